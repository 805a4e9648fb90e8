#include "backends/cuda/gemm/column_major.h"

#include <algorithm>
#include <utility>

namespace fuselet::cuda {
namespace {

ColumnMatrix matrix_of(const GemmMatrix& x, Stored stored, int64_t rows, int64_t cols) {
  if (stored.order == Order::Rows) std::swap(rows, cols);
  return {x.data, rows, cols, stored.leading, x.batch_stride};
}

}  // namespace

std::optional<Stored> storage_in_order(Stored wanted, int64_t rows, int64_t cols, int64_t row_stride,
                                       int64_t col_stride) {
  if (wanted.order == Order::Rows) {
    std::swap(rows, cols);
    std::swap(row_stride, col_stride);
  }
  // By columns: elements of a column are neighbours, and columns do not overlap.
  if (rows > 1 && row_stride != 1) return std::nullopt;
  if (cols > 1 && col_stride < std::max<int64_t>(rows, 1)) return std::nullopt;
  return Stored{wanted.order, cols > 1 ? col_stride : std::max<int64_t>(rows, 1)};
}

std::optional<Stored> storage_order(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride) {
  auto by_rows = storage_in_order({Order::Rows, 0}, rows, cols, row_stride, col_stride);
  return by_rows ? by_rows : storage_in_order({Order::Columns, 0}, rows, cols, row_stride, col_stride);
}

ColumnMajorGemm column_major(const GemmDesc& desc) {
  const Stored a = *storage_order(desc.m, desc.k, desc.a.row_stride, desc.a.col_stride);
  const Stored b = *storage_order(desc.k, desc.n, desc.b.row_stride, desc.b.col_stride);
  const Stored d = *storage_order(desc.m, desc.n, desc.d.row_stride, desc.d.col_stride);
  ColumnMajorGemm g;
  g.k = desc.k, g.batch = desc.batch;
  g.d = matrix_of(desc.d, d, desc.m, desc.n);
  g.c = g.d;
  if (desc.beta != 0) {
    auto c = storage_in_order(d, desc.m, desc.n, desc.c.row_stride, desc.c.col_stride);
    g.c = matrix_of(desc.c, *c, desc.m, desc.n);
  }
  const ColumnMatrix first = matrix_of(desc.a, a, desc.m, desc.k), second = matrix_of(desc.b, b, desc.k, desc.n);
  g.swapped = d.order == Order::Rows;
  if (g.swapped) {
    g.m = desc.n, g.n = desc.m;
    g.a = second, g.b = first;
    g.transpose_a = b.order == Order::Columns, g.transpose_b = a.order == Order::Columns;
  } else {
    g.m = desc.m, g.n = desc.n;
    g.a = first, g.b = second;
    g.transpose_a = a.order == Order::Rows, g.transpose_b = b.order == Order::Rows;
  }
  return g;
}

bool has_bias(Epilogue e) {
  switch (e) {
    case Epilogue::Bias:
    case Epilogue::ReluBias:
    case Epilogue::ReluAuxBias:
    case Epilogue::GeluBias:
    case Epilogue::GeluAuxBias:
      return true;
    default:
      return sums_into_bias(e);
  }
}

bool sums_into_bias(Epilogue e) {
  return e == Epilogue::ReluGradSum || e == Epilogue::GeluGradSum || e == Epilogue::RowSumsOfA ||
         e == Epilogue::ColumnSumsOfB;
}

bool writes_aux(Epilogue e) {
  return e == Epilogue::ReluAux || e == Epilogue::ReluAuxBias || e == Epilogue::GeluAux || e == Epilogue::GeluAuxBias;
}

bool has_aux(Epilogue e) {
  return writes_aux(e) || e == Epilogue::ReluGrad || e == Epilogue::ReluGradSum || e == Epilogue::GeluGrad ||
         e == Epilogue::GeluGradSum;
}

bool aux_is_mask(Epilogue e) {
  return e == Epilogue::ReluAux || e == Epilogue::ReluAuxBias || e == Epilogue::ReluGrad || e == Epilogue::ReluGradSum;
}

}  // namespace fuselet::cuda
