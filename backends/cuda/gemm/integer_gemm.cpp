#include "backends/cuda/gemm/integer_gemm.h"

#include "backends/cuda/text_kernel.h"
#include "core/error.h"

namespace fuselet::cuda {
namespace {

constexpr const char* kText = R"text(
struct IntegerGemmArgs {
  unsigned long long a, b, d;
  long long count, m, n, k;
  long long a_row, a_col, a_batch, b_row, b_col, b_batch, d_row, d_col, d_batch;
  long long accumulate;
};
extern "C" __global__ void kernel(const IntegerGemmArgs g) {
  const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= g.count) return;
  const long long column = at % g.n, row = at / g.n % g.m, batch = at / g.n / g.m;
  const Element* a = (const Element*)g.a + batch * g.a_batch + row * g.a_row;
  const Element* b = (const Element*)g.b + batch * g.b_batch + column * g.b_col;
  Element* d = (Element*)g.d + batch * g.d_batch + row * g.d_row + column * g.d_col;
  unsigned long long sum = g.accumulate ? (unsigned long long)(long long)*d : 0;
  for (long long i = 0; i < g.k; ++i) {
    sum += (unsigned long long)(long long)a[i * g.a_col] * (unsigned long long)(long long)b[i * g.b_row];
  }
  *d = (Element)sum;
}
)text";

const char* type_of(DType dtype) {
  switch (dtype) {
    case DType::Int64:
      return "long long";
    case DType::Int32:
      return "int";
    case DType::Int8:
      return "signed char";
    case DType::Bool:
      return "bool";
    default:
      return "unsigned char";
  }
}

}  // namespace

IntegerGemmArgs integer_gemm_args(const GemmDesc& x) {
  IntegerGemmArgs g;
  g.a = x.a.data, g.b = x.b.data, g.d = x.d.data;
  g.m = x.m, g.n = x.n, g.k = x.k, g.count = x.batch * x.m * x.n;
  g.a_row = x.a.row_stride, g.a_col = x.a.col_stride, g.a_batch = x.a.batch_stride;
  g.b_row = x.b.row_stride, g.b_col = x.b.col_stride, g.b_batch = x.b.batch_stride;
  g.d_row = x.d.row_stride, g.d_col = x.d.col_stride, g.d_batch = x.d.batch_stride;
  g.accumulate = x.beta != 0 ? 1 : 0;
  return g;
}

std::string integer_gemm_text(DType dtype) { return concat("#define Element ", type_of(dtype), "\n", kText); }

void run_integer_gemm(const GemmDesc& desc, Device device) {
  const IntegerGemmArgs args = integer_gemm_args(desc);
  launch_text_kernel(integer_gemm_text(desc.in), args.count, args, device);
}

}  // namespace fuselet::cuda
