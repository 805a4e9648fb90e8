// A product as BLAS libraries take it: matrices stored by columns, each with a leading dimension.
//
// A row-major D is computed as its transpose: D' = B' A', where a row-major matrix read by columns already is its
// transpose. So no operand is copied and only the names swap:
//   D (m, n) by rows = A B   ->   D' (n, m) by columns = op(B) op(A)
// On entry: reason_refused(desc) is nullptr and D is not empty.
#pragma once
#include <cstdint>
#include <optional>

#include "backends/cuda/gemm/gemm.h"

namespace fuselet::cuda {

// Units of the row stride of aux that cuBLASLt asks for: elements, and bits of a mask.
inline constexpr int64_t kAuxStrideUnit = 8;
inline constexpr int64_t kMaskStrideUnit = 128;

enum class Order : uint8_t { Rows, Columns };
struct Stored {
  Order order;
  int64_t leading;  // elements between rows, or columns
};
// How a strided matrix is stored, by rows where both fit; nullopt if neither.
std::optional<Stored> storage_order(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride);
// The same in the order of `wanted` or not at all.
std::optional<Stored> storage_in_order(Stored wanted, int64_t rows, int64_t cols, int64_t row_stride,
                                       int64_t col_stride);

// Stored by columns: (i, j) at data + j * leading + i.
struct ColumnMatrix {
  DevicePtr data = 0;
  int64_t rows = 0, cols = 0, leading = 0, batch_stride = 0;
};

// D (m, n) = op(A) op(B) by columns, op the transpose where told; the bias runs along the rows of D.
struct ColumnMajorGemm {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  ColumnMatrix a, b, c, d;
  bool transpose_a = false, transpose_b = false;
  bool swapped = false;  // A is the desc's B
};
ColumnMajorGemm column_major(const GemmDesc& desc);

bool has_bias(Epilogue epilogue);
bool sums_into_bias(Epilogue epilogue);  // bias is written
bool has_aux(Epilogue epilogue);
bool writes_aux(Epilogue epilogue);
bool aux_is_mask(Epilogue epilogue);

}  // namespace fuselet::cuda
