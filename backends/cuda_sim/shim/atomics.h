// Atomic operations, carried out by the simulator: instrumented loads and stores would look like a race.
#pragma once

extern "C" {
// kind: 0 add, 1 min, 2 max, 3 and, 4 or, 5 xor, 6 exchange, 7 compare and swap, 8 signed min, 9 signed max,
// 10 float add, 11 double add, 12 wrapping increment, 13 wrapping decrement. The old value.
unsigned sim_atomic32(void* address, int kind, unsigned value, unsigned compare);
unsigned long long sim_atomic64(void* address, int kind, unsigned long long value, unsigned long long compare);
}

#define SIM_ATOMIC(name, T, bits, U, kind) \
  __forceinline__ T name(T* address, T value) { return (T)sim_atomic##bits(address, kind, (U)value, 0); }
#define SIM_ATOMIC_ALL(name, kind, signed_kind)                      \
  SIM_ATOMIC(name, int, 32, unsigned, signed_kind)                   \
  SIM_ATOMIC(name, unsigned, 32, unsigned, kind)                     \
  SIM_ATOMIC(name, unsigned long long, 64, unsigned long long, kind) \
  SIM_ATOMIC(name, unsigned long, 64, unsigned long long, kind)
SIM_ATOMIC_ALL(atomicAdd, 0, 0)
SIM_ATOMIC_ALL(atomicMin, 1, 8)
SIM_ATOMIC_ALL(atomicMax, 2, 9)
SIM_ATOMIC_ALL(atomicAnd, 3, 3)
SIM_ATOMIC_ALL(atomicOr, 4, 4)
SIM_ATOMIC_ALL(atomicXor, 5, 5)
SIM_ATOMIC_ALL(atomicExch, 6, 6)
SIM_ATOMIC(atomicMin, long long, 64, unsigned long long, 8)
SIM_ATOMIC(atomicMax, long long, 64, unsigned long long, 9)
SIM_ATOMIC(atomicInc, unsigned, 32, unsigned, 12)
SIM_ATOMIC(atomicDec, unsigned, 32, unsigned, 13)
#undef SIM_ATOMIC_ALL
#undef SIM_ATOMIC
__forceinline__ int atomicSub(int* address, int value) { return atomicAdd(address, -value); }
__forceinline__ unsigned atomicSub(unsigned* address, unsigned value) { return atomicAdd(address, 0u - value); }
__forceinline__ float atomicAdd(float* address, float value) {
  return __uint_as_float(sim_atomic32(address, 10, __float_as_uint(value), 0));
}
__forceinline__ double atomicAdd(double* address, double value) {
  return __longlong_as_double((long long)sim_atomic64(address, 11, (unsigned long long)__double_as_longlong(value), 0));
}
__forceinline__ float atomicExch(float* address, float value) {
  return __uint_as_float(sim_atomic32(address, 6, __float_as_uint(value), 0));
}
__forceinline__ int atomicCAS(int* address, int compare, int value) {
  return (int)sim_atomic32(address, 7, (unsigned)value, (unsigned)compare);
}
__forceinline__ unsigned atomicCAS(unsigned* address, unsigned compare, unsigned value) {
  return sim_atomic32(address, 7, value, compare);
}
__forceinline__ unsigned long long atomicCAS(unsigned long long* address, unsigned long long compare,
                                             unsigned long long value) {
  return sim_atomic64(address, 7, value, compare);
}
