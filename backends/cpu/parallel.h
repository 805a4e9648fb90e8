// Parallel loops of the CPU backend, over OpenMP.
//
// Both loops run inline, on the caller's thread, when one thread is asked for, when called from inside another
// parallel loop, and in a fork child of a process that had used threads (GNU OpenMP's pool does not survive fork,
// and waiting for it hangs). An exception thrown by the body reaches the caller, the first one if several are
// thrown; which of the other iterations ran by then is not specified.
//
// The bodies decide whether results depend on the number of threads: a parallel_for body must treat each index on
// its own (its ranges follow the number of threads), a parallel_tiles body may keep sums within one tile.
#pragma once

#include <cstdint>

#include "backends/cpu/function_ref.h"

namespace fuselet::cpu {

// Calls body(begin, end) on disjoint ranges that cover [0, n), at most one a thread. Inline when n <= grain, where
// grain is the number of indices whose work pays for waking a thread. Nothing is called for n <= 0.
void parallel_for(int64_t n, int64_t grain, FunctionRef<void(int64_t begin, int64_t end)> body);

// Calls body(tile) once for each tile in [0, count); threads take the next tile as they become free.
void parallel_tiles(int64_t count, FunctionRef<void(int64_t tile)> body);

// Threads of later loops, of all callers; n < 1 counts as 1. The default is OpenMP's (OMP_NUM_THREADS, else the
// processors this process may use).
void set_num_threads(int n);
int get_num_threads();

}  // namespace fuselet::cpu
