// Barriers, and what the lanes of a warp do together. Each use carries its source line, by which the simulator tells
// one instruction from another: a functor, because C++17 has no way to drop the comma of an empty argument list.
#pragma once

extern "C" {
// kind: 0 plain, 1 count, 2 and, 3 or.
int sim_barrier(int line, int kind, int predicate);
void sim_sync_warp(int line, unsigned mask);
// kind: 0 idx, 1 up, 2 down, 3 xor.
unsigned long long sim_shuffle(int line, int kind, unsigned mask, unsigned long long value, int argument, int width);
// kind: 0 ballot, 1 any, 2 all, 3 match any, 4 add, 5 min, 6 max, 7 and, 8 or, 9 xor, 10 signed min, 11 signed max.
unsigned long long sim_warp_reduce(int line, int kind, unsigned mask, unsigned long long value);
unsigned sim_active_mask();
// The last lane of `mask` to arrive runs function(regs), regs[i] being what lane i gave (null for a lane outside).
void sim_warp_call_line(int line, unsigned mask, void (*function)(void** regs), void* own);
}

struct SimBarrier {
  int line, kind;
  __forceinline__ int operator()(int predicate) const { return sim_barrier(line, kind, predicate); }
  __forceinline__ void operator()() const { sim_barrier(line, 0, 0); }
};
#define __syncthreads (SimBarrier{__LINE__, 0})
#define __syncthreads_count (SimBarrier{__LINE__, 1})
#define __syncthreads_and (SimBarrier{__LINE__, 2})
#define __syncthreads_or (SimBarrier{__LINE__, 3})

struct SimSyncWarp {
  int line;
  __forceinline__ void operator()(unsigned mask = 0xffffffffu) const { sim_sync_warp(line, mask); }
};
#define __syncwarp (SimSyncWarp{__LINE__})

template <int Bytes>
struct SimBitsOf {
  typedef unsigned Type;
};
template <>
struct SimBitsOf<8> {
  typedef unsigned long long Type;
};

struct SimShuffle {
  int line, kind;
  template <class T>
  __forceinline__ T operator()(unsigned mask, T value, int argument, int width = 32) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles take 32 or 64 bits");
    typedef typename SimBitsOf<sizeof(T)>::Type Bits;
    return __builtin_bit_cast(T, (Bits)sim_shuffle(line, kind, mask, __builtin_bit_cast(Bits, value), argument, width));
  }
};
#define __shfl_sync (SimShuffle{__LINE__, 0})
#define __shfl_up_sync (SimShuffle{__LINE__, 1})
#define __shfl_down_sync (SimShuffle{__LINE__, 2})
#define __shfl_xor_sync (SimShuffle{__LINE__, 3})

struct SimVote {
  int line, kind;
  __forceinline__ unsigned operator()(unsigned mask, int predicate) const {
    return (unsigned)sim_warp_reduce(line, kind, mask, predicate != 0);
  }
};
#define __ballot_sync (SimVote{__LINE__, 0})
#define __any_sync (SimVote{__LINE__, 1})
#define __all_sync (SimVote{__LINE__, 2})
#define __activemask() sim_active_mask()

struct SimMatch {
  int line;
  template <class T>
  __forceinline__ unsigned operator()(unsigned mask, T value) const {
    return (unsigned)sim_warp_reduce(line, 3, mask, __builtin_bit_cast(typename SimBitsOf<sizeof(T)>::Type, value));
  }
};
#define __match_any_sync (SimMatch{__LINE__})

struct SimReduce {
  int line, kind, signed_kind;
  __forceinline__ unsigned operator()(unsigned mask, unsigned value) const {
    return (unsigned)sim_warp_reduce(line, kind, mask, value);
  }
  __forceinline__ int operator()(unsigned mask, int value) const {
    return (int)(unsigned)sim_warp_reduce(line, signed_kind, mask, (unsigned)value);
  }
};
#define __reduce_add_sync (SimReduce{__LINE__, 4, 4})
#define __reduce_min_sync (SimReduce{__LINE__, 5, 10})
#define __reduce_max_sync (SimReduce{__LINE__, 6, 11})
#define __reduce_and_sync (SimReduce{__LINE__, 7, 7})
#define __reduce_or_sync (SimReduce{__LINE__, 8, 8})
#define __reduce_xor_sync (SimReduce{__LINE__, 9, 9})

struct SimWarpCall {
  int line;
  __forceinline__ void operator()(unsigned mask, void (*function)(void** regs), void* own) const {
    sim_warp_call_line(line, mask, function, own);
  }
};
#define sim_warp_call (SimWarpCall{__LINE__})
