#include "backends/cuda/gemm/gemm_ranges.h"

#include "backends/cuda/gemm/column_major.h"

namespace fuselet::cuda {
namespace {

// Matrix by columns; columns and matrices that follow each other without a gap are one range.
void add_ranges(std::vector<DeviceRange>& ranges, const ColumnMatrix& x, int64_t batch, DType dtype, bool written) {
  const auto size = static_cast<int64_t>(size_of(dtype));
  const bool dense = x.leading == x.rows || x.cols == 1;
  const int64_t run = dense ? x.rows * x.cols : x.rows, runs = dense ? 1 : x.cols;
  if (x.batch_stride == 0) batch = 1;
  auto add = [&](int64_t first, int64_t count) {
    ranges.push_back({x.data + static_cast<DevicePtr>(first * size), static_cast<size_t>(count * size), written});
  };
  if (dense && x.batch_stride == run) return add(0, run * batch);
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t r = 0; r < runs; ++r) add(b * x.batch_stride + r * x.leading, run);
  }
}

}  // namespace

std::vector<DeviceRange> ranges_of(const GemmDesc& desc) {
  const ColumnMajorGemm g = column_major(desc);
  std::vector<DeviceRange> ranges;
  add_ranges(ranges, g.a, g.batch, desc.in, false);
  add_ranges(ranges, g.b, g.batch, desc.in, false);
  if (desc.beta != 0) add_ranges(ranges, g.c, g.batch, desc.out, false);
  add_ranges(ranges, g.d, g.batch, desc.out, true);
  if (has_bias(desc.epilogue)) {
    const int64_t count = desc.epilogue == Epilogue::RowSumsOfA ? desc.m : desc.n;
    ranges.push_back({desc.bias, static_cast<size_t>(count) * size_of(desc.out), sums_into_bias(desc.epilogue)});
  }
  if (has_aux(desc.epilogue)) {
    const bool written = writes_aux(desc.epilogue);
    if (aux_is_mask(desc.epilogue)) {  // whole bytes; bits of padding are kept
      const ColumnMatrix mask{desc.aux, (desc.n + 7) / 8, desc.m, desc.aux_row_stride / 8, desc.aux_batch_stride / 8};
      add_ranges(ranges, mask, desc.batch, DType::UInt8, written);
    } else {
      add_ranges(ranges, {desc.aux, desc.n, desc.m, desc.aux_row_stride, desc.aux_batch_stride}, desc.batch, desc.out,
                 written);
    }
  }
  return ranges;
}

}  // namespace fuselet::cuda
