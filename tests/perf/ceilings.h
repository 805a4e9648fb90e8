// What this machine's memory can do, as the ceiling that element-wise operators are measured against.
//
// STREAM's triad, a[i] = b[i] + s * c[i], on three arrays that no cache holds, an equal share a thread (of the
// threads that parallel_for uses). Counted are the bytes the loop names, 12 an element: plain stores also read the
// line they write, which STREAM's convention leaves out. Arrays are written once first, so no page faults are timed.
#pragma once

#include <cstddef>

namespace fuselet::perf {

enum class Stores {
  plain,         // what compiled loops do
  non_temporal,  // past the caches, without reading the line first; same as plain where the target has no such store
};

// Median of `repeats` runs, in GB/s (1e9 bytes).
double triad_bandwidth(Stores stores = Stores::plain, size_t array_bytes = size_t{256} << 20, int repeats = 9);

}  // namespace fuselet::perf
