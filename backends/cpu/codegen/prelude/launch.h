// How a generated kernel runs: what it is given, and its parallel regions. Includes no standard header: generated units
// paste it.
#pragma once

namespace fuselet::generated {

// The layout of GeneratorState.
struct Draw {
  unsigned long seed, draw;
};

// What a kernel asks of the library.
struct Runtime {
  void (*parallel_for)(long n, long grain, void (*body)(const void* argument, long begin, long end),
                       const void* argument);
};

struct Task {
  void* const* buffers;
  const double* scalars;
  const Draw* draws;
  char* scratch;
  int* failed;  // the smallest 1 + number of a LoadAt that met an index out of range; 0: none
};

// The layout of kernel::TileRange.
struct Part2d {
  long row, row_end, column, column_end;
};

// Runs the tiles [begin, end) of a nest. `at` holds the numbers in which nests that share the function differ.
using Tiles = void (*)(const Task& task, const long* at, long begin, long end);

// Nests that run in one region: each owns the tiles from `first` up to the next one's.
struct Part {
  long first;
  Tiles tiles;
  const long* at;
};
struct Region {
  const Task* task;
  const Part* parts;
  long count;
};

inline void run_parts(const void* argument, long begin, long end) {
  const Region& region = *(const Region*)argument;
  for (long i = 0; i < region.count && begin < end; ++i) {
    const Part& part = region.parts[i];
    long next = i + 1 < region.count ? region.parts[i + 1].first : end;
    if (begin >= next) continue;
    long stop = next < end ? next : end;
    part.tiles(*region.task, part.at, begin - part.first, stop - part.first);
    begin = stop;
  }
}

// `grain`: tiles whose work pays for waking a thread.
inline void run(const Runtime* runtime, const Task& task, const Part* parts, long count, long tiles, long grain) {
  Region region{&task, parts, count};
  if (tiles <= grain)
    run_parts(&region, 0, tiles);
  else
    runtime->parallel_for(tiles, grain, run_parts, &region);
}

inline void fail(const Task& task, int number) {
  int seen = __atomic_load_n(task.failed, __ATOMIC_RELAXED);
  while ((seen == 0 || number < seen) &&
         !__atomic_compare_exchange_n(task.failed, &seen, number, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

inline constexpr long least(long a, long b) { return a < b ? a : b; }

}  // namespace fuselet::generated
