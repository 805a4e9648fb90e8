// Elements at places that are calculated, with the check of their indices. Generated units paste it.
#pragma once

#include "backends/cpu/codegen/prelude/lanes.h"
#include "backends/cpu/codegen/prelude/launch.h"

namespace fuselet::generated {

// index in [-size, size), negative ones counted from the end, as a distance; 0, and a report, where it is out of range.
FUSELET_FN long place_of(const Task& task, int number, long index, long size, long stride) {
  long wrapped = index < 0 ? index + size : index;
  if (wrapped < 0 || wrapped >= size) {
    fail(task, number);
    return 0;
  }
  return wrapped * stride;
}
template <int W>
FUSELET_FN Integers<W> places_of(const Task& task, int number, First first, Integers<W> index, long size, long stride) {
  for (int i = 0; i < W; ++i) index[i] = i < first.count ? place_of(task, number, index[i], size, stride) : 0;
  return index;
}
template <int W>
FUSELET_FN Integers<W> places_of(const Task& task, int number, Whole, Integers<W> index, long size, long stride) {
  Integers<W> wrapped = index < 0 ? index + size : index;
  Integers<W> outside = (wrapped < 0) | (wrapped >= size);
  for (int i = 0; i < W; ++i) {
    if (outside[i]) return places_of<W>(task, number, First{W}, index, size, stride);
  }
  return wrapped * stride;
}

// Elements from[place + lane * stride]. Where nothing may be read (`readable` false), zeros.
template <int W, class T>
FUSELET_FN HeldLanes<T, W> gather(First first, const T* from, long stride, Integers<W> place, bool readable) {
  RawLanes<T, W> raw{};
  const auto* x = (const typename Stored<T>::RawType*)from;
  for (int i = 0; i < W; ++i) {
    if (readable && i < first.count) raw[i] = x[place[i] + i * stride];
  }
  return widen<T, W>(raw);
}
template <int W, class T>
FUSELET_FN HeldLanes<T, W> gather(Whole, const T* from, long stride, Integers<W> place, bool readable) {
  return gather<W>(First{W}, from, stride, place, readable);
}

}  // namespace fuselet::generated
