#include "backends/cuda/scatter/sorted_indices.h"

#include <algorithm>
#include <bit>

#include "backends/cuda/index_failures.h"
#include "backends/cuda/kernel_source.h"
#include "backends/cuda/temporaries.h"
#include "backends/cuda/text_kernel.h"
#include "core/error.h"

namespace fuselet::cuda {
namespace {

// Keys that a block sorts in shared memory: 16 KiB, so that several blocks fit into a multiprocessor.
constexpr int kTileBits = 11;
constexpr int64_t kTile = int64_t{1} << kTileBits;

// As in the texts. Everything counts keys, those past a line's indices included.
struct SortArgs {
  unsigned long long index = 0, keys = 0;
  int64_t total = 0, length = 0, size = 0;
  int64_t shift = 0;  // log2 of a line
  int64_t step = 0;   // log2 of what a network's step is about: see each text
  unsigned long long failed = 0;
  int64_t code = 0;
};

constexpr const char* kSortArgs = R"text(
struct SortArgs {
  const long* index;
  unsigned long* keys;
  long total, length, size, shift, step;
  int* failed;
  long code;
};
__device__ __forceinline__ void order(unsigned long& low, unsigned long& high) {
  const unsigned long x = low, y = high;
  if (x > y) low = y, high = x;
}
)text";

// Steps inside a tile. A pair's lower place, p the pair's number; the other is the mirror image in a block of 2^step
// (the first step of a merge, after which every place of the lower half is below those of the upper one), or 2^step
// away.
constexpr const char* kTileSteps = R"text(
constexpr int kTile = TILE;
__device__ __forceinline__ void mirror_in_tile(unsigned long* keys, int bits) {
  for (int p = threadIdx.x; p < kTile / 2; p += blockDim.x) {
    const int within = p & ((1 << (bits - 1)) - 1), first = (p >> (bits - 1)) << bits;
    order(keys[first + within], keys[first + (1 << bits) - 1 - within]);
  }
  __syncthreads();
}
__device__ __forceinline__ void distances_in_tile(unsigned long* keys, int bits) {
  for (; bits >= 0; --bits) {
    for (int p = threadIdx.x; p < kTile / 2; p += blockDim.x) {
      const int low = ((p >> bits) << (bits + 1)) + (p & ((1 << bits) - 1));
      order(keys[low], keys[low + (1 << bits)]);
    }
    __syncthreads();
  }
}
)text";

// Makes the keys of a tile, or takes those that are there, and sorts them in blocks of 2^step.
constexpr const char* kSortTiles = R"text(
extern "C" __global__ void __launch_bounds__(256) kernel(const SortArgs a) {
  __shared__ unsigned long keys[kTile];
  const long first = (long)blockIdx.x * kTile;
  for (int i = threadIdx.x; i < kTile; i += blockDim.x) {
    const long line = (first + i) >> a.shift, position = (first + i) & ((1l << a.shift) - 1);
    unsigned long key = ~0ul;  // of no index
#if FROM_KEYS
    if (first + i < a.total) key = a.keys[first + i];
#else
    if (first + i < a.total && position < a.length) {
      const long index = a.index[line * a.length + position], wrapped = index < 0 ? index + a.size : index;
      const bool inside = wrapped >= 0 && wrapped < a.size;
      if (!inside) report_failure(a.failed, a.code);
      key = (unsigned long)(inside ? wrapped : a.size) << a.shift | (unsigned long)position;
    }
#endif
    keys[i] = key;
  }
  __syncthreads();
  for (int bits = 1; bits <= a.step; ++bits) {
    mirror_in_tile(keys, bits);
    distances_in_tile(keys, bits - 2);
  }
  for (int i = threadIdx.x; i < kTile; i += blockDim.x) {
    if (first + i < a.total) a.keys[first + i] = keys[i];
  }
}
)text";

// The steps of a merge that stay inside tiles.
constexpr const char* kMergeTiles = R"text(
extern "C" __global__ void __launch_bounds__(256) kernel(const SortArgs a) {
  __shared__ unsigned long keys[kTile];
  unsigned long* tile = a.keys + (long)blockIdx.x * kTile;
  for (int i = threadIdx.x; i < kTile; i += blockDim.x) keys[i] = tile[i];
  __syncthreads();
  distances_in_tile(keys, a.step);
  for (int i = threadIdx.x; i < kTile; i += blockDim.x) tile[i] = keys[i];
}
)text";

constexpr const char* kMirror = R"text(
extern "C" __global__ void kernel(const SortArgs a) {
  const long p = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= a.total / 2) return;
  const long within = p & ((1l << (a.step - 1)) - 1), first = (p >> (a.step - 1)) << a.step;
  order(a.keys[first + within], a.keys[first + (1l << a.step) - 1 - within]);
}
)text";

constexpr const char* kDistance = R"text(
extern "C" __global__ void kernel(const SortArgs a) {
  const long p = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= a.total / 2) return;
  const long low = ((p >> a.step) << (a.step + 1)) + (p & ((1l << a.step) - 1));
  order(a.keys[low], a.keys[low + (1l << a.step)]);
}
)text";

struct Texts {
  std::string sort_indices, sort_keys, merge_tiles, mirror, distance;
  Texts() {
    auto source = [](const std::string& body) { return kernel_source({kPlacesPrelude}, {}, kSortArgs + body); };
    const std::string steps = concat("#define TILE ", kTile, kTileSteps);
    sort_indices = source("#define FROM_KEYS 0\n" + steps + kSortTiles);
    sort_keys = source("#define FROM_KEYS 1\n" + steps + kSortTiles);
    merge_tiles = source(steps + kMergeTiles);
    mirror = source(kMirror);
    distance = source(kDistance);
  }
};

const Texts& texts() {
  static const Texts& texts = *new Texts;
  return texts;
}

// Lines of 2^args.shift keys, which `first_text` makes or finds.
void sort_lines(const std::string& first_text, SortArgs args, Device device) {
  const int64_t tiles = (args.total + kTile - 1) / kTile, tile_threads = tiles * kTextKernelThreads;
  args.step = std::min<int64_t>(args.shift, kTileBits);
  launch_text_kernel(first_text, tile_threads, args, device);
  // From here on a line is a whole number of tiles.
  for (int64_t bits = kTileBits + 1; bits <= args.shift; ++bits) {
    args.step = bits;
    launch_text_kernel(texts().mirror, args.total / 2, args, device);
    for (args.step = bits - 2; args.step >= kTileBits; --args.step)
      launch_text_kernel(texts().distance, args.total / 2, args, device);
    launch_text_kernel(texts().merge_tiles, tile_threads, args, device);
  }
}

}  // namespace

SortedIndices sort_indices(const Tensor& index, int64_t length, int64_t size, const char* op) {
  const Device device = index.device();
  const int64_t lines = length == 0 ? 0 : index.numel() / length;
  SortedIndices sorted{{}, length, 1, 0, size};
  while (sorted.padded < length) sorted.padded *= 2, ++sorted.shift;
  FUSELET_CHECK(std::bit_width(static_cast<uint64_t>(size)) + sorted.shift < 64, op, ": ", length,
                " indices into a dimension of size ", size, " are too many to be sorted");
  SortArgs args;
  args.total = lines * sorted.padded, args.length = length, args.size = size, args.shift = sorted.shift;
  sorted.keys = new_tensor(Dims{args.total}, DType::Int64, device);
  if (args.total == 0) return sorted;
  args.index = address_of(index), args.keys = address_of(sorted.keys);
  args.failed = reinterpret_cast<uintptr_t>(failure_cell(device.index));
  args.code = failure_code(op, size);
  sort_lines(texts().sort_indices, args, device);
  return sorted;
}

void sort_keys(const Tensor& keys, int shift) {
  if (keys.numel() == 0) return;
  SortArgs args;
  args.total = keys.numel(), args.shift = shift, args.keys = address_of(keys);
  sort_lines(texts().sort_keys, args, keys.device());
}

}  // namespace fuselet::cuda
