// Sums of columns, kept in memory while rows go by. Generated units paste it.
#pragma once

#include "backends/cpu/codegen/prelude/rows.h"

namespace fuselet::generated {

template <class Combine, class T>
FUSELET_FN void clear_sums(T* sums, long count) {
  for (long i = 0; i < count; ++i) sums[i] = Combine::template kIdentity<T>;
}
template <class Combine, class N, class T, class V>
FUSELET_FN void add_to_sums(N lanes, T* sums, V v) {
  store(lanes, sums, Combine()(load<LaneInfo<V>::kLanes>(lanes, sums), v));
}

}  // namespace fuselet::generated
