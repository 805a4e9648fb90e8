// The engine of reductions over any set of dimensions of a tensor of any layout and dtype.
//
// Note [Order of reductions]: the reduced dimensions count as one axis of n elements in row-major order. If the
// tensor's last dimension is among them, an output combines its n elements as reduce_row of core/reduction_tree.h does,
// else as reduce_column does. So the bits depend on n and on whether the last dimension is reduced; not on layout or
// threads.
//
// A policy has: identity; combine(a, b), for scalars and vectors; prepare(T* block, n, first_output, step): changes
// loaded elements before they are combined, the k-th belonging to output first_output + k * step (step 0 or 1);
// kPrepares.
#pragma once
#include <algorithm>
#include <cstring>

#include "backends/cpu/block_run.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/scratch.h"
#include "core/ops/reduced_dims.h"
#include "core/reduction_tree.h"

namespace fuselet::cpu {

struct Reduction {
  Space kept;     // operand 0: place in the result; operand 1: offset in the input
  Space reduced;  // the same for the reduced axis
  int64_t outputs, n;
  bool along_rows;
  const std::byte* data;
  int64_t element;  // bytes
  LoadBlock load;
  bool as_it_lies;

  Reduction(const TensorImpl& self, DimMask mask, ComputeType compute);
};

// Work of a thread below which waking another one does not pay, in elements.
inline constexpr int64_t kReductionGrain = 32768;

// The ordered tree over `count` rows of `width` values, for each column; the result is left in row 0.
template <class T, class Combine>
void combine_rows_in_order(T* rows, int64_t count, int64_t width, const Combine& combine) {
  parallel_for(width, std::max<int64_t>(kReductionGrain / count, 64), [&](int64_t begin, int64_t end) {
    for (int64_t left = count; left > 1; left = (left + 1) / 2) {
      for (int64_t i = 0; i + 1 < left; i += 2) {
        T *to = rows + i / 2 * width, *a = rows + i * width, *b = a + width;
        for (int64_t k = begin; k < end; ++k) to[k] = combine(a[k], b[k]);
      }
      if (left % 2 == 1)
        std::copy(rows + (left - 1) * width + begin, rows + (left - 1) * width + end, rows + left / 2 * width + begin);
    }
  });
}

template <class T, class Policy>
class Reducer {
 public:
  Reducer(const Reduction& r, const Policy& policy) : r_(r), policy_(policy) {}

  // One result for each output, in row-major order.
  void run(T* results) const {
    if (r_.outputs == 0) return;
    if (r_.n == 0) {
      std::fill_n(results, r_.outputs, policy_.identity);
    } else if (r_.along_rows) {
      run_rows(results);
    } else {
      run_columns(results);
    }
  }

 private:
  // Elements [first, first + length) of the reduced axis of one output, in `block` or where they lie.
  const T* load_part(int64_t output, int64_t base, int64_t first, int64_t length, T* block) const {
    const Space& axis = r_.reduced;
    const size_t last = axis.sizes.size() - 1;
    const int64_t stride = axis.strides[1][last];
    Index at;
    int64_t offset = first * stride;  // of an axis in one piece
    if (last > 0) {
      at = axis.unravel(first);
      offset = axis.offset(1, at);
    }
    if (last == 0 || at[last] + length <= axis.sizes[last]) {
      const std::byte* from = r_.data + (base + offset) * r_.element;
      if (!Policy::kPrepares && r_.as_it_lies && stride == 1) return reinterpret_cast<const T*>(from);
      r_.load(from, stride, block, length);
    } else {
      axis.for_each_run(1, at, length, [&](int64_t offset, int64_t n, int64_t done) {
        r_.load(r_.data + (base + offset) * r_.element, stride, block + done, n);
      });
    }
    if constexpr (Policy::kPrepares) policy_.prepare(block, length, output, 0);
    return block;
  }

  T reduce_part(int64_t output, int64_t base, int64_t first, T* block) const {
    const int64_t length = std::min<int64_t>(kChunk, r_.n - first);
    const T* x = load_part(output, base, first, length, block);
    return reduce_chunk(
        0, length, policy_.identity,
        [x]<class V>(long long i) {
          V v;
          __builtin_memcpy(&v, x + i, sizeof v);
          return v;
        },
        policy_.combine);
  }

  int64_t base_of(int64_t output) const { return r_.kept.offset(1, r_.kept.unravel(output)); }

  void run_rows(T* results) const {
    const int64_t chunks = chunk_count(r_.n);
    const bool few = r_.outputs < kFewOutputs && chunks > 1 && r_.outputs * r_.n > kReductionGrain;
    if (!few) {
      parallel_for(r_.outputs, std::max<int64_t>(kReductionGrain / r_.n, 1), [&](int64_t begin, int64_t end) {
        alignas(64) T block[kChunk];
        Index place = r_.kept.unravel(begin);
        for (int64_t output = begin; output < end; ++output, r_.kept.advance(place, 1)) {
          const int64_t base = r_.kept.offset(1, place);
          if (chunks == 1) {
            results[output] = reduce_part(output, base, 0, block);
            continue;
          }
          OrderedTree<T, decltype(policy_.combine)> tree(policy_.combine);
          for (int64_t first = 0; first < r_.n; first += kChunk) tree.push(reduce_part(output, base, first, block));
          results[output] = tree.result(policy_.identity);
        }
      });
      return;
    }
    Scratch parts(static_cast<size_t>(r_.outputs * chunks) * sizeof(T));
    T* part = parts.as<T>();
    parallel_for(r_.outputs * chunks, kReductionGrain / kChunk, [&](int64_t begin, int64_t end) {
      alignas(64) T block[kChunk];
      for (int64_t i = begin; i < end; ++i) {
        part[i] = reduce_part(i / chunks, base_of(i / chunks), i % chunks * kChunk, block);
      }
    });
    for (int64_t output = 0; output < r_.outputs; ++output) {
      results[output] = combine_in_order(part + output * chunks, chunks, policy_.identity, policy_.combine);
    }
  }

  // Rows [first, end) of outputs [output, output + width) into `sums`.
  void reduce_strip(int64_t first, int64_t end, int64_t output, int64_t width, T* sums, T* block) const {
    const Space& kept = r_.kept;
    const size_t last = kept.sizes.size() - 1;
    const Index at = kept.unravel(output);
    const int64_t stride = kept.strides[1][last];
    const bool one_run = at[last] + width <= kept.sizes[last];
    const int64_t base = kept.offset(1, at);
    std::fill_n(sums, width, policy_.identity);
    Index row = r_.reduced.unravel(first);
    for (int64_t i = first; i < end; ++i, r_.reduced.advance(row, 1)) {
      const int64_t shift = r_.reduced.offset(1, row);
      const T* x = block;
      if (one_run && r_.as_it_lies && stride == 1 && !Policy::kPrepares) {
        x = reinterpret_cast<const T*>(r_.data + (base + shift) * r_.element);
      } else if (one_run) {
        r_.load(r_.data + (base + shift) * r_.element, stride, block, width);
      } else {
        kept.for_each_run(1, at, width, [&](int64_t offset, int64_t n, int64_t done) {
          r_.load(r_.data + (offset + shift) * r_.element, stride, block + done, n);
        });
      }
      if constexpr (Policy::kPrepares) policy_.prepare(block, width, output, 1);
      for (int64_t k = 0; k < width; ++k) sums[k] = policy_.combine(sums[k], x[k]);
    }
  }

  void run_columns(T* results) const {
    const int64_t leaves = leaf_count(r_.n), strips = (r_.outputs + kStrip - 1) / kStrip;
    Scratch parts(leaves > 1 ? static_cast<size_t>(leaves * r_.outputs) * sizeof(T) : 0);
    T* part = leaves > 1 ? parts.as<T>() : results;
    const int64_t work = std::min(r_.n, int64_t{kRowsPerLeaf}) * std::min(r_.outputs, kStrip);
    parallel_for(leaves * strips, std::max<int64_t>(kReductionGrain / work, 1), [&](int64_t begin, int64_t end) {
      alignas(64) T block[kStrip];
      for (int64_t i = begin; i < end; ++i) {
        const int64_t leaf = i / strips, output = i % strips * kStrip;
        const int64_t first = leaf * kRowsPerLeaf;
        reduce_strip(first, std::min<int64_t>(r_.n, first + kRowsPerLeaf), output,
                     std::min(kStrip, r_.outputs - output), part + leaf * r_.outputs + output, block);
      }
    });
    if (leaves == 1) return;
    combine_rows_in_order(part, leaves, r_.outputs, policy_.combine);
    std::memcpy(results, part, static_cast<size_t>(r_.outputs) * sizeof(T));
  }

  // Outputs of a strip: a few KiB, so that sums and loaded rows stay in the first-level cache.
  static constexpr int64_t kStrip = 512;
  // Below this many outputs the chunks of one output are spread over threads.
  static constexpr int64_t kFewOutputs = 64;

  const Reduction& r_;
  const Policy& policy_;
};

template <class T>
struct SumPolicy {
  static constexpr bool kPrepares = false;
  T identity = 0;
  struct {
    template <class V>
    V operator()(V a, V b) const {
      return formula::add(a, b);
    }
  } combine;
};

template <class T>
void reduce_sum(const TensorImpl& self, DimMask mask, T* results) {
  Reduction r(self, mask, kComputeType<T>);
  SumPolicy<T> policy;
  Reducer<T, SumPolicy<T>>(r, policy).run(results);
}

}  // namespace fuselet::cpu
