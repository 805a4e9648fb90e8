// From the parameters of a launch to a typed call of the kernel. The end that scan_source.h adds to each source lists
// its kernels with SIM_KERNEL.
#pragma once

struct SimKernelEntry {
  const char* name;
  void (*run)(void* const* parameters);
  int num_parameters;
  const unsigned* sizes;
  const unsigned* alignments;
  int max_threads;  // of __launch_bounds__; 0: it says none
};

template <unsigned... I>
struct SimIndices {};

template <auto Function>
struct SimKernel;
template <class... A, void (*Function)(A...)>
struct SimKernel<Function> {
  static constexpr unsigned kSizes[] = {sizeof(A)..., 0};
  static constexpr unsigned kAlignments[] = {alignof(A)..., 0};
  // The simulator's memory, not the kernel's: not to be checked.
  template <unsigned... I>
  __attribute__((no_sanitize("thread", "alignment"))) static void call(void* const* parameters, SimIndices<I...>) {
    Function(*(const A*)parameters[I]...);
  }
  __attribute__((no_sanitize("thread", "alignment"))) static void run(void* const* parameters) {
    call(parameters, SimIndices<__integer_pack(sizeof...(A))...>{});
  }
};

#define SIM_KERNEL(name, max_threads)                                                                \
  {                                                                                                  \
#name, SimKernel < &name> ::run, (int)(sizeof SimKernel <&name>::kSizes / sizeof(unsigned)) - 1, \
        SimKernel < &name> ::kSizes, SimKernel < &name> ::kAlignments, max_threads                   \
  }
