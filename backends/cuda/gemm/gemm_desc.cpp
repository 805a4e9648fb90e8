// Which products are taken, and how messages name them.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "backends/cuda/gemm/column_major.h"
#include "core/error.h"

namespace fuselet::cuda {
namespace {

constexpr const char* kEpilogueNames[] = {"none",      "bias",          "relu",          "relu_bias",
                                          "relu_aux",  "relu_aux_bias", "gelu",          "gelu_bias",
                                          "gelu_aux",  "gelu_aux_bias", "relu_grad",     "relu_grad_sum",
                                          "gelu_grad", "gelu_grad_sum", "row_sums_of_a", "column_sums_of_b"};

bool dtypes_fit(DType in, DType out) {
  switch (in) {
    case DType::Float32:
    case DType::Float64:
      return out == in;
    case DType::Float16:
    case DType::BFloat16:
      return out == in || out == DType::Float32;
    default:
      return false;
  }
}

// D would write one element twice: a stride does not span the elements of the smaller ones.
bool overlaps_itself(const GemmDesc& d) {
  std::array<std::pair<int64_t, int64_t>, 3> dims = {
      {{d.d.row_stride, d.m}, {d.d.col_stride, d.n}, {d.d.batch_stride, d.batch}}};
  std::sort(dims.begin(), dims.end());
  int64_t span = 1;
  for (auto [stride, size] : dims) {
    if (size == 1) continue;
    if (stride < span) return true;
    span += (size - 1) * stride;
  }
  return false;
}

const char* reason_epilogue_refused(const GemmDesc& d) {
  if (d.epilogue == Epilogue::None) return nullptr;
  if (d.out == DType::Float64) return "float64 products take no epilogue";
  if (d.n > 1 && d.d.col_stride != 1) return "an epilogue needs a row-major result";
  if (has_bias(d.epilogue) && d.bias == 0) return "the epilogue's bias is missing";
  if (sums_into_bias(d.epilogue) && d.batch > 1) return "sums go with a single product";
  if (!has_aux(d.epilogue)) return nullptr;
  if (d.aux == 0) return "the epilogue's aux is missing";
  const int64_t unit = aux_is_mask(d.epilogue) ? kMaskStrideUnit : kAuxStrideUnit;
  if (d.aux_row_stride < d.n || d.aux_row_stride % unit != 0 || d.aux_batch_stride % unit != 0)
    return aux_is_mask(d.epilogue) ? "rows of a mask must lie whole multiples of 128 bits apart"
                                   : "rows of aux must lie whole multiples of 8 elements apart";
  return nullptr;
}

}  // namespace

const char* name_of(Epilogue epilogue) { return kEpilogueNames[static_cast<size_t>(epilogue)]; }

std::string to_string(const GemmDesc& d) {
  std::string text = concat(name_of(d.in), " (", d.m, ", ", d.k, ") x (", d.k, ", ", d.n, ")");
  if (d.out != d.in) text += concat(" to ", name_of(d.out));
  if (d.batch != 1) text += concat(", ", d.batch, " products");
  if (d.epilogue != Epilogue::None) text += concat(", ", name_of(d.epilogue));
  return text;
}

bool lies_as_operand(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride) {
  return storage_order(rows, cols, row_stride, col_stride).has_value();
}

const char* reason_refused(const GemmDesc& d) {
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  if (!dtypes_fit(d.in, d.out)) return "no product of these dtypes";
  if (d.m < 0 || d.n < 0 || d.k < 0 || d.batch < 0) return "a size is negative";
  if (d.m > kLargest || d.n > kLargest || d.k > kLargest || d.batch > kLargest) return "a size is beyond 32 bits";
  if (d.m == 0 || d.n == 0 || d.batch == 0) return nullptr;
  if (d.k == 0) return "there is nothing to sum";
  if (!lies_as_operand(d.m, d.k, d.a.row_stride, d.a.col_stride)) return "A must be copied first";
  if (!lies_as_operand(d.k, d.n, d.b.row_stride, d.b.col_stride)) return "B must be copied first";
  const auto order = storage_order(d.m, d.n, d.d.row_stride, d.d.col_stride);
  if (!order || overlaps_itself(d)) return "D does not lie as a result";
  if (d.beta != 0 && !storage_in_order(*order, d.m, d.n, d.c.row_stride, d.c.col_stride))
    return "C does not lie in the order of D";
  return reason_epilogue_refused(d);
}

void GemmLibrary::run(const GemmDesc& desc, StreamHandle stream) {
  const char* reason = reason_refused(desc);
  FUSELET_CHECK(!reason, name(), ": ", reason, ": ", to_string(desc));
  if (desc.m == 0 || desc.n == 0 || desc.batch == 0) return;
  enqueue(desc, stream);
}

}  // namespace fuselet::cuda
