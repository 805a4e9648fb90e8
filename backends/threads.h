// How many threads the CPU backend's loops use.
#pragma once

namespace fuselet {

// For later loops of all callers; n < 1 counts as 1. The default is OpenMP's: OMP_NUM_THREADS, else the processors that
// this process may use. Results do not depend on it.
void set_num_threads(int n);
int get_num_threads();

}  // namespace fuselet
