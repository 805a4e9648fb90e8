// matmul, addmm, linear: strided views go to gemm as they lie, batches included.
#include "backends/cpu/contractions.h"

#include <algorithm>

#include "backends/cpu/dense.h"
#include "backends/cpu/gemm.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/space.h"
#include "core/formulas.h"

namespace fuselet::cpu {
namespace {

struct Matrix {
  int64_t rows, cols, row_stride, col_stride;
  DimsView batch_sizes, batch_strides;
};

// A vector is a row on the left and a column on the right.
Matrix matrix_of(DimsView sizes, DimsView strides, bool left) {
  const size_t r = sizes.size();
  if (r == 1) {
    const int64_t n = sizes[0].word(), s = strides[0].word();
    return left ? Matrix{1, n, 0, s, {}, {}} : Matrix{n, 1, s, 0, {}, {}};
  }
  return {sizes[r - 2].word(),   sizes[r - 1].word(), strides[r - 2].word(),
          strides[r - 1].word(), sizes.first(r - 2),  strides.first(r - 2)};
}

// The product's strides of rows and columns, dropped dimensions as stride 0.
Matrix product_of(const Tensor& out, const Matrix& a, const Matrix& b, bool left_vector, bool right_vector) {
  Matrix c{a.rows, b.cols, 0, 0, out.sizes(), out.strides()};
  size_t r = out.sizes().size();
  if (!right_vector) c.col_stride = out.strides()[--r].word();
  if (!left_vector) c.row_stride = out.strides()[--r].word();
  c.batch_sizes = out.sizes().first(r);
  c.batch_strides = out.strides().first(r);
  return c;
}

void multiply_integers(const GemmDesc& d) {
  const int64_t *a = static_cast<const int64_t*>(d.a), *b = static_cast<const int64_t*>(d.b);
  int64_t* c = static_cast<int64_t*>(d.c);
  const int64_t grain = std::max<int64_t>(32768 / std::max<int64_t>(d.n * d.k, 1), 1);
  parallel_for(d.batch * d.m, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t* x = a + row / d.m * d.a_bs + row % d.m * d.a_rs;
      const int64_t* y = b + row / d.m * d.b_bs;
      int64_t* z = c + row / d.m * d.c_bs + row % d.m * d.c_rs;
      for (int64_t j = 0; j < d.n; ++j) z[j * d.c_cs] = 0;
      for (int64_t k = 0; k < d.k; ++k) {
        for (int64_t j = 0; j < d.n; ++j) {
          z[j * d.c_cs] = formula::add(z[j * d.c_cs], formula::mul(x[k * d.a_cs], y[k * d.b_rs + j * d.b_cs]));
        }
      }
    }
  });
}

using PostWork = FunctionRef<void(int64_t, int64_t, int64_t, int64_t)>;

template <class T>
void multiply(const Tensor& out, const Tensor& a, const Tensor& b, const PostWork* post_work = nullptr) {
  const bool left_vector = a.dim() == 1, right_vector = b.dim() == 1;
  const Matrix x = matrix_of(a.sizes(), a.strides(), true), y = matrix_of(b.sizes(), b.strides(), false);
  const Matrix z = product_of(out, x, y, left_vector, right_vector);

  Space batches(z.batch_sizes);
  batches.add(z.batch_sizes, z.batch_strides);
  batches.add(x.batch_sizes, x.batch_strides);
  batches.add(y.batch_sizes, y.batch_strides);
  batches.simplify();

  GemmDesc d;
  d.m = x.rows, d.n = y.cols, d.k = x.cols;
  d.a_rs = x.row_stride, d.a_cs = x.col_stride;
  d.b_rs = y.row_stride, d.b_cs = y.col_stride;
  d.c_rs = z.row_stride, d.c_cs = z.col_stride;
  d.type = std::is_same_v<T, double> ? GemmType::f64 : GemmType::f32;
  const size_t last = batches.sizes.size() - 1;
  d.batch = batches.sizes[last];
  d.c_bs = batches.strides[0][last], d.a_bs = batches.strides[1][last], d.b_bs = batches.strides[2][last];
  if (d.batch > 1 && d.b_bs == 0 && d.a_bs == d.m * d.a_rs && d.c_bs == d.m * d.c_rs && !left_vector) {
    d.m *= d.batch;  // one weight for all matrices: their rows form one matrix
    d.batch = 1;
  }
  const int64_t outer = batches.numel() / std::max<int64_t>(batches.sizes[last], 1);
  Index at(batches.sizes.size(), 0);
  for (int64_t i = 0; i < outer; ++i) {
    d.c = static_cast<T*>(out.impl()->data()) + batches.offset(0, at);
    d.a = static_cast<const T*>(a.impl()->data()) + batches.offset(1, at);
    d.b = static_cast<const T*>(b.impl()->data()) + batches.offset(2, at);
    if constexpr (std::is_same_v<T, int64_t>) {
      multiply_integers(d);
    } else if (post_work) {
      gemm(d, [&](const GemmPart& part) {
        const int64_t first = (i * d.batch + part.batch) * d.m;
        (*post_work)(first + part.row, first + part.row_end, part.column, part.column_end);
      });
    } else {
      gemm(d);
    }
    batches.advance(at, batches.sizes[last]);
  }
}

// `t` itself, or its elements in another dtype.
Tensor as_dtype(const Tensor& t, DType dtype) {
  if (t.dtype() == dtype) return t;
  Tensor converted = make_tensor(t.sizes(), dtype);
  copy_into(converted, t);
  return converted;
}

Tensor transposed(const Tensor& t) {
  return Tensor(make_intrusive<TensorImpl>(t.impl()->storage(), Dims{t.sizes()[1], t.sizes()[0]},
                                           Dims{t.strides()[1], t.strides()[0]}, t.impl()->offset(), t.dtype()));
}

// The product in the compute type; `out` itself where it is of that type.
Tensor product(const Tensor& out, const Tensor& a, const Tensor& b) {
  const DType compute = storage_of(compute_type_of(out.dtype()));
  Tensor result = out.dtype() == compute ? out : make_tensor(out.sizes(), compute);
  if (result.numel() == 0) return result;
  with_compute_type(compute,
                    [&](auto zero) { multiply<decltype(zero)>(result, as_dtype(a, compute), as_dtype(b, compute)); });
  return result;
}

}  // namespace

void matmul_into(const Tensor& out, const Tensor& a, const Tensor& b) {
  Tensor result = product(out, a, b);
  if (!result.is_same(out)) copy_into(out, result);
}

void matmul_into(const Tensor& out, const Tensor& a, const Tensor& b, PostWork post_work) {
  with_float_type(out.dtype(), [&](auto zero) { multiply<decltype(zero)>(out, a, b, &post_work); });
}

void add_bias(const Tensor& out, const Tensor& bias, const Tensor& product) {
  Arg args[] = {Arg(product), Arg(bias)};
  Tensor target = out;
  pointwise(Call{&op_of(OpId::add), args, 2, &target, 1, true});
}

void matmul(const Call& call) { matmul_into(call.outs[0], call.tensor(0), call.tensor(1)); }
void matmul_wide(const Call& call) { matmul(call); }

void addmm(const Call& call) {
  add_bias(call.outs[0], call.tensor(0), product(call.outs[0], call.tensor(1), call.tensor(2)));
}

void linear(const Call& call) {
  const Tensor& out = call.outs[0];
  Tensor result = product(out, call.tensor(0), transposed(call.tensor(1)));
  if (call.has(2)) {
    add_bias(out, call.tensor(2), result);
  } else if (!result.is_same(out)) {
    copy_into(out, result);
  }
}

}  // namespace fuselet::cpu
