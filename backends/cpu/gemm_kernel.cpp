#include "backends/cpu/gemm_kernel.h"

#include <array>
#include <cstddef>
#include <utility>

namespace fuselet::cpu {
namespace {

// last: lanes of the last vector that are in C.
template <class T>
using Kernel = void (*)(const KernelCall<T>& call, int last);

template <class T, int Rows, int Vecs>
void packed_kernel(const KernelCall<T>& call, int) {
  const T* a = call.a;
  const T* b = call.b;
  Vector<T> sum[Rows][Vecs] = {};
  for (int64_t p = call.k; p > 0; --p) {
    Vector<T> columns[Vecs];
#pragma GCC unroll 4
    for (int j = 0; j < Vecs; ++j) columns[j] = load(b + j * kLanes<T>);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      const Vector<T> row = broadcast(a[i]);
#pragma GCC unroll 4
      for (int j = 0; j < Vecs; ++j) sum[i][j] = fma(row, columns[j], sum[i][j]);
    }
    a += kPanelRows;
    b += call.b_rs;
  }
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < Vecs; ++j) {
      T* to = call.c + i * call.c_rs + j * kLanes<T>;
      store(to, call.add ? load(to) + sum[i][j] : sum[i][j]);
    }
  }
}

template <class T, int Rows, int Vecs>
void direct_kernel(const KernelCall<T>& call, int last) {
  const T* rows[Rows];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) rows[i] = call.a + i * call.a_rs;
  const T* b = call.b;
  const int64_t a_cs = call.a_cs, b_rs = call.b_rs;
  Vector<T> sum[Rows][Vecs] = {};
  int64_t at = 0;
  for (int64_t p = call.k; p > 0; --p) {
    Vector<T> columns[Vecs];
#pragma GCC unroll 4
    for (int j = 0; j < Vecs - 1; ++j) columns[j] = load(b + j * kLanes<T>);
    columns[Vecs - 1] = load_first(b + (Vecs - 1) * kLanes<T>, last);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      const Vector<T> row = broadcast(rows[i][at]);
#pragma GCC unroll 4
      for (int j = 0; j < Vecs; ++j) sum[i][j] = fma(row, columns[j], sum[i][j]);
    }
    at += a_cs;
    b += b_rs;
  }
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < Vecs; ++j) {
      T* to = call.c + i * call.c_rs + j * kLanes<T>;
      const int lanes = j < Vecs - 1 ? kLanes<T> : last;
      store_first(to, call.add ? load_first(to, lanes) + sum[i][j] : sum[i][j], lanes);
    }
  }
}

template <class T, int... I>
constexpr auto packed_kernels(std::integer_sequence<int, I...>) {
  return std::array<Kernel<T>, sizeof...(I)>{&packed_kernel<T, I / kPanelVecs + 1, I % kPanelVecs + 1>...};
}
template <class T, int... I>
constexpr auto direct_kernels(std::integer_sequence<int, I...>) {
  return std::array<Kernel<T>, sizeof...(I)>{&direct_kernel<T, I / kPanelVecs + 1, I % kPanelVecs + 1>...};
}

// By (rows - 1, vectors - 1).
using Indices = std::make_integer_sequence<int, kPanelRows * kPanelVecs>;
template <class T>
constexpr auto kPackedKernels = packed_kernels<T>(Indices{});
template <class T>
constexpr auto kDirectKernels = direct_kernels<T>(Indices{});

}  // namespace

template <class T>
void run_kernel(int rows, int cols, const KernelCall<T>& call) {
  const int vecs = (cols + kLanes<T> - 1) / kLanes<T>;
  const int last = cols - (vecs - 1) * kLanes<T>;
  const bool is_packed = call.a_rs == 1 && call.a_cs == kPanelRows && last == kLanes<T>;
  const auto& kernels = is_packed ? kPackedKernels<T> : kDirectKernels<T>;
  kernels[static_cast<size_t>((rows - 1) * kPanelVecs + vecs - 1)](call, last);
}

template void run_kernel<float>(int, int, const KernelCall<float>&);
template void run_kernel<double>(int, int, const KernelCall<double>&);

}  // namespace fuselet::cpu
