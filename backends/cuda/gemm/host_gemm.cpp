#include "backends/cuda/gemm/host_gemm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cuda/gemm/column_major.h"
#include "core/element.h"
#include "core/error.h"

namespace fuselet::cuda {
namespace {

template <class T>
T* address(DevicePtr data) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(data));
}

double load(DType dtype, DevicePtr data, int64_t index) {
  switch (dtype) {
    case DType::Float64:
      return address<double>(data)[index];
    case DType::Float32:
      return address<float>(data)[index];
    case DType::Float16:
      return to_float(address<float16>(data)[index]);
    default:
      return to_float(address<bfloat16>(data)[index]);
  }
}

void store(DType dtype, DevicePtr data, int64_t index, double value) {
  switch (dtype) {
    case DType::Float64:
      address<double>(data)[index] = value;
      return;
    case DType::Float32:
      address<float>(data)[index] = static_cast<float>(value);
      return;
    case DType::Float16:
      address<float16>(data)[index] = to_float16(value);
      return;
    default:
      address<bfloat16>(data)[index] = to_bfloat16(value);
  }
}

// op(X) of one product, (rows, cols) by columns without gaps.
std::vector<double> packed(const ColumnMatrix& x, bool transpose, DType dtype, int64_t batch) {
  std::vector<double> values(static_cast<size_t>(x.rows * x.cols));
  const int64_t rows = transpose ? x.cols : x.rows;
  for (int64_t j = 0; j < x.cols; ++j) {
    for (int64_t i = 0; i < x.rows; ++i) {
      const int64_t to = transpose ? i * rows + j : j * rows + i;
      values[static_cast<size_t>(to)] = load(dtype, x.data, batch * x.batch_stride + j * x.leading + i);
    }
  }
  return values;
}

bool bit_at(DevicePtr mask, int64_t index) { return (address<unsigned char>(mask)[index / 8] >> (index % 8)) & 1; }
void set_bit(DevicePtr mask, int64_t index, bool on) {
  unsigned char& byte = address<unsigned char>(mask)[index / 8];
  const auto bit = static_cast<unsigned char>(1u << (index % 8));
  byte = static_cast<unsigned char>(on ? byte | bit : byte & ~bit);
}

// gelu's tanh form, and its derivative (Hendrycks and Gimpel 2016).
double gelu(double x) {
  const double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(u));
}
double gelu_slope(double x) {
  const double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x), t = std::tanh(u);
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
}

// One element of D from z; (i, j) by columns.
double finished(const GemmDesc& desc, double z, int64_t i, int64_t aux_at) {
  if (has_bias(desc.epilogue) && !sums_into_bias(desc.epilogue)) z += load(desc.out, desc.bias, i);
  if (writes_aux(desc.epilogue)) {
    if (aux_is_mask(desc.epilogue)) {
      set_bit(desc.aux, aux_at, z > 0);
    } else {
      store(desc.out, desc.aux, aux_at, z);
    }
  }
  switch (desc.epilogue) {
    case Epilogue::Relu:
    case Epilogue::ReluBias:
    case Epilogue::ReluAux:
    case Epilogue::ReluAuxBias:
      return z > 0 ? z : 0;
    case Epilogue::Gelu:
    case Epilogue::GeluBias:
    case Epilogue::GeluAux:
    case Epilogue::GeluAuxBias:
      return gelu(z);
    case Epilogue::ReluGrad:
    case Epilogue::ReluGradSum:
      return bit_at(desc.aux, aux_at) ? z : 0;
    case Epilogue::GeluGrad:
    case Epilogue::GeluGradSum:
      return z * gelu_slope(load(desc.out, desc.aux, aux_at));
    default:
      return z;
  }
}

// Sums of op(A) over k by its rows, of op(B) by its columns, into the bias.
void sum_operand(const GemmDesc& desc, const std::vector<double>& values, int64_t count, int64_t step, int64_t k,
                 int64_t k_step) {
  for (int64_t i = 0; i < count; ++i) {
    double sum = 0;
    for (int64_t l = 0; l < k; ++l) sum += values[static_cast<size_t>(i * step + l * k_step)];
    store(desc.out, desc.bias, i, sum);
  }
}

}  // namespace

void host_gemm(const GemmDesc& desc) {
  const ColumnMajorGemm g = column_major(desc);
  std::vector<double> column(static_cast<size_t>(g.m)), sums(static_cast<size_t>(g.m), 0);
  for (int64_t batch = 0; batch < g.batch; ++batch) {
    const std::vector<double> a = packed(g.a, g.transpose_a, desc.in, batch);
    const std::vector<double> b = packed(g.b, g.transpose_b, desc.in, batch);
    for (int64_t j = 0; j < g.n; ++j) {
      std::fill(column.begin(), column.end(), 0);
      for (int64_t l = 0; l < g.k; ++l) {
        const double factor = b[static_cast<size_t>(j * g.k + l)];
        const double* from = a.data() + l * g.m;
        for (int64_t i = 0; i < g.m; ++i) column[static_cast<size_t>(i)] += from[i] * factor;
      }
      for (int64_t i = 0; i < g.m; ++i) {
        // The sum is in the accumulator's type before anything joins it, as on a device.
        const bool is_double = desc.in == DType::Float64;
        double z = desc.alpha * column[static_cast<size_t>(i)];
        if (!is_double) z = static_cast<double>(static_cast<float>(z));
        if (desc.beta != 0) z += desc.beta * load(desc.out, g.c.data, batch * g.c.batch_stride + j * g.c.leading + i);
        z = finished(desc, z, i, batch * desc.aux_batch_stride + j * desc.aux_row_stride + i);
        store(desc.out, g.d.data, batch * g.d.batch_stride + j * g.d.leading + i, z);
        sums[static_cast<size_t>(i)] += z;
      }
    }
    const bool of_first = (desc.epilogue == Epilogue::RowSumsOfA) != g.swapped;
    if (desc.epilogue == Epilogue::RowSumsOfA || desc.epilogue == Epilogue::ColumnSumsOfB) {
      if (of_first) {
        sum_operand(desc, a, g.m, 1, g.k, g.m);
      } else {
        sum_operand(desc, b, g.n, g.k, g.k, 1);
      }
    } else if (sums_into_bias(desc.epilogue)) {
      for (int64_t i = 0; i < g.m; ++i) store(desc.out, desc.bias, i, sums[static_cast<size_t>(i)]);
    }
  }
}

}  // namespace fuselet::cuda
