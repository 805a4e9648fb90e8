#include "backends/cpu/convert_blocks.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/element_size.h"
#include "core/convert.h"
#include "core/element.h"
#include "core/half_blocks.h"

namespace fuselet::cpu {
namespace {

template <class From, class To>
void load(const void* from, int64_t stride, void* block, int64_t n) {
  const From* x = static_cast<const From*>(from);
  To* out = static_cast<To*>(block);
  if (stride == 1) {
    if constexpr (std::is_same_v<From, To>) {
      std::memcpy(out, x, static_cast<size_t>(n) * sizeof(To));
    } else if constexpr (kIsHalf<From> && std::is_same_v<To, float>) {
      load_as_float(x, out, static_cast<size_t>(n));
    } else {
      for (int64_t i = 0; i < n; ++i) out[i] = convert<To>(x[i]);
    }
  } else if (stride == 0) {
    std::fill_n(out, n, convert<To>(*x));
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = convert<To>(x[i * stride]);
  }
}

template <class From, class To>
void store(const void* block, void* to, int64_t stride, int64_t n) {
  const From* x = static_cast<const From*>(block);
  To* out = static_cast<To*>(to);
  if (stride == 1) {
    if constexpr (std::is_same_v<From, To>) {
      std::memcpy(out, x, static_cast<size_t>(n) * sizeof(To));
    } else if constexpr (kIsHalf<To> && std::is_same_v<From, float>) {
      store_from_float(x, out, static_cast<size_t>(n));
    } else {
      for (int64_t i = 0; i < n; ++i) out[i] = convert<To>(x[i]);
    }
  } else {
    for (int64_t i = 0; i < n; ++i) out[i * stride] = convert<To>(x[i]);
  }
}

// f(compute type, storage type) for each pair.
template <class F>
auto with_types(ComputeType compute, DType storage, F&& f) {
  return with_compute_type(storage_of(compute),
                           [&](auto c) { return visit_dtype(storage, [&](auto s) { return f(c, s); }); });
}

}  // namespace

LoadBlock load_block(DType from, ComputeType to) {
  return with_types(to, from, [](auto c, auto s) -> LoadBlock { return load<decltype(s), decltype(c)>; });
}
StoreBlock store_block(ComputeType from, DType to) {
  return with_types(from, to, [](auto c, auto s) -> StoreBlock { return store<decltype(c), decltype(s)>; });
}
LoadBlock load_block_raw(size_t size) {
  return with_element_size(size, [](auto t) -> LoadBlock { return load<decltype(t), decltype(t)>; });
}
StoreBlock store_block_raw(size_t size) {
  return with_element_size(size, [](auto t) -> StoreBlock { return store<decltype(t), decltype(t)>; });
}

}  // namespace fuselet::cpu
