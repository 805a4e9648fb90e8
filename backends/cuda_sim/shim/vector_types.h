// CUDA's built-in vector types, with their alignments, and make_*. (Arithmetic on them is the kernel's own.)
#pragma once

#define SIM_VECTORS(T, name, a1, a2, a4)                              \
  struct __align__(a1) name##1 {                                      \
    T x;                                                              \
  };                                                                  \
  struct __align__(a2) name##2 {                                      \
    T x, y;                                                           \
  };                                                                  \
  struct __align__(a4) name##4 {                                      \
    T x, y, z, w;                                                     \
  };                                                                  \
  __forceinline__ name##1 make_##name##1(T x) { return {x}; }         \
  __forceinline__ name##2 make_##name##2(T x, T y) { return {x, y}; } \
  __forceinline__ name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

SIM_VECTORS(signed char, char, 1, 2, 4)
SIM_VECTORS(unsigned char, uchar, 1, 2, 4)
SIM_VECTORS(short, short, 2, 4, 8)
SIM_VECTORS(unsigned short, ushort, 2, 4, 8)
SIM_VECTORS(int, int, 4, 8, 16)
SIM_VECTORS(unsigned, uint, 4, 8, 16)
SIM_VECTORS(long, long, 8, 16, 16)
SIM_VECTORS(unsigned long, ulong, 8, 16, 16)
SIM_VECTORS(long long, longlong, 8, 16, 16)
SIM_VECTORS(unsigned long long, ulonglong, 8, 16, 16)
SIM_VECTORS(float, float, 4, 8, 16)
SIM_VECTORS(double, double, 8, 16, 16)
#undef SIM_VECTORS

#define SIM_VECTOR3(T, name) \
  struct name##3 {           \
    T x, y, z;               \
  };                         \
  __forceinline__ name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }
SIM_VECTOR3(signed char, char)
SIM_VECTOR3(unsigned char, uchar)
SIM_VECTOR3(short, short)
SIM_VECTOR3(unsigned short, ushort)
SIM_VECTOR3(int, int)
SIM_VECTOR3(long long, longlong)
SIM_VECTOR3(unsigned long long, ulonglong)
SIM_VECTOR3(float, float)
SIM_VECTOR3(double, double)
#undef SIM_VECTOR3
// uint3 is the type of threadIdx.
__forceinline__ uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
