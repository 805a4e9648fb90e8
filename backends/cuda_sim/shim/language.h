// What the CUDA language adds to C++, for the host compiler: qualifiers, built-in variables, and the calls that leave a
// kernel for the simulator. The files of shim/ are joined in the order that embed_shim.py lists and included ahead of
// every kernel source; they include nothing, as NVRTC's own prelude does.
//
// __shared__ is thread_local: it alone implies static inside a function and may follow extern. The module's block of
// thread-local storage is then the shared memory of the running thread block.
#pragma once

#define FUSELET_SIM 1
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDA_ARCH__ 900
#define __global__ __attribute__((visibility("default")))
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __shared__ thread_local
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
// CUDA takes the standard form between other specifiers, GCC only its own.
#define alignas(n) __attribute__((aligned(n)))
#define __builtin_assume(...) ((void)0)

typedef decltype(sizeof 0) size_t;
typedef decltype((char*)0 - (char*)0) ptrdiff_t;

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

// Constant within a thread, so the compiler may keep the result across barriers.
extern "C" {
uint3 sim_thread_index() __attribute__((const));
uint3 sim_block_index() __attribute__((const));
uint3 sim_block_dim() __attribute__((const));
uint3 sim_grid_dim() __attribute__((const));
void sim_trap() __attribute__((noreturn));
void sim_assertion_failed(const char* condition) __attribute__((noreturn));
long long sim_clock();
int printf(const char* format, ...);
}

#define threadIdx (sim_thread_index())
#define blockIdx (sim_block_index())
#define blockDim (sim_block_dim())
#define gridDim (sim_grid_dim())
#define warpSize 32
#define __trap() sim_trap()
#define assert(condition) ((condition) ? (void)0 : sim_assertion_failed(#condition))

#define clock64() sim_clock()
#define clock() ((int)sim_clock())
#define __nanosleep(nanoseconds) ((void)(nanoseconds))
// One OS thread runs the whole grid, so memory is always consistent; fences order no accesses in the race check.
#define __threadfence() ((void)0)
#define __threadfence_block() ((void)0)
#define __threadfence_system() ((void)0)
