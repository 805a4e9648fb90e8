// Generated kernels against eager ones, bit for bit, and against the double-precision reference, at sizes around the
// edges of vectors, chunks and leaves. The kernels of all sizes are compiled together.
#include <doctest/doctest.h>

#include "backends/cpu/interpret_kernel.h"
#include "backends/reference/interpret_kernel.h"
#include "backends/threads.h"
#include "core/generator.h"
#include "core/ops/functions.h"
#include "tests/backends/cpu/tensors.h"
#include "tests/kernel_builder.h"

namespace fuselet::test {
namespace {

using kernel::Combine;
using kernel::Structure;

constexpr int64_t kSizes[] = {0, 1, 15, 16, 17, 511, 512, 513, 1024, 1027};

Tensor normal(const std::vector<int64_t>& sizes) { return randn(IntList(sizes)); }

// A kernel, the tensors it runs on, and what the written ones must be, in the order of buffers (undefined: not
// written).
struct Case {
  kernel::Kernel kernel;
  KernelRun run;
  std::vector<Tensor> want;
  // Of the largest value: what float32 may differ from double precision by.
  double tolerance = 1e-5;
};

// The largest distance to the reference, of the largest value.
double distance(const Tensor& got, const Tensor& reference) {
  const std::vector<double> x = got.to_vector(), y = reference.to_vector();
  double largest = 1e-30, most = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    largest = std::max(largest, std::fabs(y[i]));
    most = std::max(most, std::fabs(x[i] - y[i]));
  }
  return most / largest;
}

void check(const std::vector<Case>& cases) {
  std::vector<kernel::Kernel> kernels;
  for (const Case& c : cases) {
    kernel::verify(c.kernel);
    kernels.push_back(c.kernel);
  }
  const auto compiled = target_of(DeviceType::CPU).compile(kernels);
  for (size_t k = 0; k < cases.size(); ++k) {
    const Case& c = cases[k];
    CAPTURE(k);
    CAPTURE(print(c.kernel));
    CHECK(compiled[k]->remark == "");
    auto fresh = [&] {
      KernelRun run = c.run;
      for (Tensor& t : run.buffers) t = cpu::copy_of(t);
      return run;
    };
    auto interpreted = [&](auto interpret, KernelRun run) {
      std::vector<void*> pointers;
      for (const Tensor& t : run.buffers) pointers.push_back(t.impl()->data());
      CHECK(interpret(c.kernel, kernel::KernelArguments{pointers.data(), run.scalars.data(), run.draws.data()}) == 0);
      return run;
    };
    const KernelRun native = interpreted(cpu::interpret, fresh()), exact = interpreted(reference::interpret, fresh());
    for (int threads : {1, 2}) {
      CAPTURE(threads);
      const int before = get_num_threads();
      set_num_threads(threads);
      const KernelRun run = fresh();
      CHECK(launch(*compiled[k], c.kernel, run) == 0);
      set_num_threads(before);
      for (size_t i = 0; i < run.buffers.size(); ++i) {
        if (!c.kernel.buffers[i].written) continue;
        CAPTURE(i);
        CHECK(same_bits(run.buffers[i], native.buffers[i]));
        if (c.want[i].defined()) CHECK(same_bits(reshape(run.buffers[i], IntList(c.want[i].sizes())), c.want[i]));
        CHECK(distance(run.buffers[i], exact.buffers[i]) <= c.tolerance);
      }
    }
  }
}

}  // namespace

TEST_CASE("a generated pointwise chain has eager's bits") {
  manual_seed(1);
  std::vector<Case> cases;
  for (int64_t n : kSizes) {
    const Tensor x = normal({n}), y = normal({n});
    NestBuilder b(Structure::Pointwise, {n});
    const int sum = b.formula("add", {b.load(0, kFloat32, {1}), b.load(1, kFloat32, {1})});
    b.store(2, b.formula("mul", {b.formula("gelu_erf", {sum}), b.constant(0.7)}), {1});
    cases.push_back(
        {make_kernel("add_gelu_erf_mul", {{kFloat32, n, false}, {kFloat32, n, false}, {kFloat32, n, true}}, {b.nest}),
         {{x, y, zeros_like(x)}},
         {{}, {}, mul(gelu_erf(add(x, y)), 0.7)}});
  }
  check(cases);
}

TEST_CASE("a generated chain in place, over an input that is its output, has eager's bits") {
  manual_seed(3);
  const int64_t n = 1027;
  const Tensor x = normal({n});
  NestBuilder b(Structure::Rows, {1, n});
  const int v = b.load(0, kFloat32, {n, 1}), sum = b.reduce(Combine::Sum, v);
  b.store(0, b.formula("mul", {v, sum}), {n, 1});
  check({{make_kernel("scale_by_sum", {{kFloat32, n, true}}, {b.nest}), {{x}}, {mul(x, x.sum())}}});
}

TEST_CASE("16-bit floats, integers and bools convert as eager casts do") {
  manual_seed(4);
  std::vector<Case> cases;
  const Tensor x = mul(normal({67}), 300.0);
  for (DType from : {kFloat32, kFloat64, kFloat16, kBFloat16, kInt64, kInt32, kInt8, kUInt8, kBool}) {
    const Tensor input = cast(x, from);
    NestBuilder b(Structure::Pointwise, {67});
    const int v = b.load(0, from, {1});
    std::vector<kernel::Buffer> buffers = {{from, 67, false}};
    Case c{{}, {{input}}, {{}}, 0.01};
    for (DType to : {kFloat32, kFloat64, kFloat16, kBFloat16, kInt64, kInt32, kInt8, kUInt8, kBool}) {
      b.store(static_cast<int>(buffers.size()), b.convert(v, to), {1});
      buffers.push_back({to, 67, true});
      c.want.push_back(cast(input, to));
      c.run.buffers.push_back(zeros({67}, to));
    }
    c.kernel = make_kernel("casts", buffers, {b.nest});
    cases.push_back(c);
  }
  check(cases);
}

TEST_CASE("generated softmax has eager's bits") {
  manual_seed(2);
  std::vector<Case> cases;
  for (int64_t n : kSizes) {
    const Tensor x = normal({5, n});
    NestBuilder b(Structure::Rows, {5, n});
    const int v = b.load(0, kFloat32, {n, 1}), top = b.reduce(Combine::Max, v);
    const int e = b.formula("exp", {b.formula("sub", {v, top})});
    const int share = b.formula("div", {b.constant(1), b.reduce(Combine::Sum, e)});
    b.store(1, b.formula("mul", {e, share}), {n, 1});
    cases.push_back({make_kernel("softmax", {{kFloat32, 5 * n, false}, {kFloat32, 5 * n, true}}, {b.nest}),
                     {{x, zeros_like(x)}},
                     {{}, softmax(x, -1)}});
  }
  check(cases);
}

TEST_CASE("generated softmax over columns has eager's bits") {
  manual_seed(5);
  std::vector<Case> cases;
  for (auto [l, n] : {std::pair<int64_t, int64_t>{3, 17}, {64, 16}, {65, 5}, {200, 33}, {130, 2500}}) {
    const Tensor x = normal({2, l, n});
    NestBuilder b(Structure::Columns, {2, l, n});
    const int v = b.load(0, kFloat32, {l * n, n, 1}), top = b.reduce(Combine::Max, v);
    const int e = b.formula("exp", {b.formula("sub", {v, top})});
    const int share = b.formula("div", {b.constant(1), b.reduce(Combine::Sum, e)});
    b.store(1, b.formula("mul", {e, share}), {l * n, n, 1});
    cases.push_back({make_kernel("softmax", {{kFloat32, 2 * l * n, false}, {kFloat32, 2 * l * n, true}}, {b.nest}),
                     {{x, zeros_like(x)}},
                     {{}, softmax(x, 1)}});
  }
  check(cases);
}

TEST_CASE("generated layer_norm has eager's bits, forward and backward") {
  manual_seed(6);
  std::vector<Case> cases;
  for (auto [rows, n] : {std::pair<int64_t, int64_t>{3, 16}, {64, 17}, {65, 512}, {200, 513}, {1, 1027}, {70, 2048}}) {
    const Tensor x = normal({rows, n}), w = normal({n}), bias = normal({n}), g = normal({rows, n});
    const auto forward = layer_norm_forward(x, {n}, w, bias, 1e-5);
    const double count = static_cast<double>(n);
    const kernel::Buffer in{kFloat32, rows * n, false}, row{kFloat32, rows, false}, column{kFloat32, n, false};
    const kernel::Buffer out{kFloat32, rows * n, true}, row_out{kFloat32, rows, true}, column_out{kFloat32, n, true};
    {
      NestBuilder b(Structure::Rows, {rows, n});
      const int v = b.load(0, kFloat32, {n, 1}), weight = b.load(1, kFloat32, {0, 1}),
                shift = b.load(2, kFloat32, {0, 1});
      const int mean = b.formula("div", {b.reduce(Combine::Sum, v), b.constant(count)});
      const int centred = b.formula("sub", {v, mean});
      const int squares = b.reduce(Combine::Sum, b.formula("mul", {centred, centred}));
      const int variance = b.formula("div", {squares, b.constant(count)});
      const int rstd = b.formula("rsqrt", {b.formula("add", {variance, b.constant(1e-5)})});
      const int y = b.formula("mul", {b.formula("mul", {centred, rstd}), weight});
      b.store(3, b.formula("add", {y, shift}), {n, 1});
      b.store(4, mean, {1, 0});
      b.store(5, rstd, {1, 0});
      cases.push_back({make_kernel("layer_norm", {in, column, column, out, row_out, row_out}, {b.nest}),
                       {{x, w, bias, zeros_like(x), zeros({rows}), zeros({rows})}},
                       {{}, {}, {}, forward[0], reshape(forward[1], {rows}), reshape(forward[2], {rows})},
                       1e-4});
    }
    NestBuilder b(Structure::RowsAndColumns, {rows, n});
    const int gv = b.load(0, kFloat32, {n, 1}), v = b.load(1, kFloat32, {n, 1}), weight = b.load(2, kFloat32, {0, 1});
    const int mean = b.load(3, kFloat32, {1, 0}), rstd = b.load(4, kFloat32, {1, 0});
    const int y = b.formula("mul", {b.formula("sub", {v, mean}), rstd}), gw = b.formula("mul", {gv, weight});
    const int p = b.formula("div", {b.reduce(Combine::Sum, gw), b.constant(count)});
    const int q = b.formula("div", {b.reduce(Combine::Sum, b.formula("mul", {gw, y})), b.constant(count)});
    const int rest = b.formula("sub", {b.formula("sub", {gw, p}), b.formula("mul", {y, q})});
    b.store(5, b.formula("mul", {rest, rstd}), {n, 1});
    b.store(6, b.column_sum(Combine::Sum, b.formula("mul", {gv, y})), {0, 1});
    b.store(7, b.column_sum(Combine::Sum, gv), {0, 1});
    const auto backward = layer_norm_grad(g, x, forward[1], forward[2], w, {n});
    cases.push_back({make_kernel("layer_norm_grad", {in, in, column, row, row, out, column_out, column_out}, {b.nest}),
                     {{g, x, w, forward[1], forward[2], zeros_like(x), zeros({n}), zeros({n})}},
                     {{}, {}, {}, {}, {}, backward[0], backward[1], backward[2]},
                     1e-4});
  }
  check(cases);
}

TEST_CASE("generated sums have eager's bits, of long rows and of columns") {
  manual_seed(7);
  std::vector<Case> cases;
  for (int64_t n : {0, 1, 513, 20000}) {
    const Tensor x = normal({3, n});
    for (Structure structure : {Structure::Rows, Structure::SplitRows}) {
      NestBuilder b(structure, {3, n});
      const int v = b.load(0, kFloat32, {n, 1});
      b.store(1, b.reduce(Combine::Sum, v), {1, 0});
      b.store(2, b.reduce(Combine::Min, v), {1, 0});
      cases.push_back(
          {make_kernel("sum_amin", {{kFloat32, 3 * n, false}, {kFloat32, 3, true}, {kFloat32, 3, true}}, {b.nest}),
           {{x, zeros({3}), zeros({3})}},
           {{}, sum(x, 1), n ? amin(x, 1) : Tensor()},
           1e-4});
      if (n == 0) cases.back().tolerance = __builtin_inf();  // the least of nothing is infinite
    }
    NestBuilder b(Structure::Columns, {n, 3});
    b.store(1, b.reduce(Combine::Sum, b.load(0, kFloat32, {3, 1})), {0, 1});
    const Tensor tall = reshape(x, {n, 3});
    cases.push_back({make_kernel("sum", {{kFloat32, 3 * n, false}, {kFloat32, 3, true}}, {b.nest}),
                     {{tall, zeros({3})}},
                     {{}, sum(tall, 0)},
                     1e-4});
  }
  check(cases);
}

TEST_CASE("generated nests store columns and rows that no Reduce takes part in, once") {
  const Tensor x = varied({70, 5}), bias = varied({5}), start = varied({70});
  std::vector<Case> cases;
  {
    NestBuilder b(Structure::Columns, {70, 5});
    b.store(1, b.reduce(Combine::Sum, b.load(0, kFloat32, {5, 1})), {0, 1});
    b.store(2, b.formula("add", {b.load(2, kFloat32, {0, 1}), b.constant(1)}), {0, 1});
    cases.push_back(
        {make_kernel("sum_add", {{kFloat32, 350, false}, {kFloat32, 5, true}, {kFloat32, 5, true}}, {b.nest}),
         {{x, zeros({5}), bias}},
         {{}, sum(x, 0), add(bias, 1)}});
  }
  const Tensor rows = varied({70, 1200});
  NestBuilder b(Structure::SplitRows, {70, 1200});
  b.store(1, b.reduce(Combine::Sum, b.load(0, kFloat32, {1200, 1})), {1, 0});
  b.store(2, b.formula("add", {b.load(2, kFloat32, {1, 0}), b.constant(1)}), {1, 0});
  cases.push_back(
      {make_kernel("sum_add", {{kFloat32, 84000, false}, {kFloat32, 70, true}, {kFloat32, 70, true}}, {b.nest}),
       {{rows, zeros({70}), start}},
       {{}, sum(rows, 1), add(start, 1)}});
  check(cases);
}

TEST_CASE("a generated dropout mask is the draw's") {
  const int64_t n = 10001;
  manual_seed(8);
  const Tensor x = normal({n});
  const GeneratorState before = default_generator().state();
  const auto eager = dropout_forward(x, 0.1);
  const uint32_t threshold = 58982;  // round(0.9 * 65536)
  NestBuilder b(Structure::Pointwise, {n});
  const int kept = b.random(0, kernel::Distribution::Bernoulli, kBool, {1}, threshold);
  const int y = b.formula("mul", {b.load(0, kFloat32, {1}), kept});
  b.store(1, b.formula("mul", {y, b.constant(65536.0 / threshold)}), {1});
  b.store(2, kept, {1});
  check({{make_kernel("dropout", {{kFloat32, n, false}, {kFloat32, n, true}, {kBool, n, true}}, {b.nest}, 0, 1),
          {{x, zeros({n}), zeros({n}, kBool)}, {}, {before}},
          {{}, eager[0], eager[1]}}});
}

TEST_CASE("a mask that keeps nothing, and one that keeps everything") {
  const int64_t n = 100;
  std::vector<Case> cases;
  for (uint32_t threshold : {0u, 65536u}) {
    NestBuilder b(Structure::Pointwise, {n});
    b.store(0, b.random(0, kernel::Distribution::Bernoulli, kBool, {1}, threshold), {1});
    cases.push_back({make_kernel("mask", {{kBool, n, true}}, {b.nest}, 0, 1),
                     {{zeros({n}, kBool)}, {}, {default_generator().state()}},
                     {threshold == 0 ? zeros({n}, kBool) : ones({n}, kBool)}});
  }
  check(cases);
}

TEST_CASE("generated passes that read what an earlier one has kept have eager's bits") {
  manual_seed(11);
  std::vector<Case> cases;
  for (int64_t n : {17, 1024, 1027}) {
    const Tensor x = normal({3, n}), g = normal({3, n});
    NestBuilder b(Structure::Rows, {3, n});
    const int v = b.load(0, kFloat32, {n, 1}), top = b.reduce(Combine::Max, b.formula("gelu_erf", {v}));
    const int slope = b.formula("gelu_erf_slope", {v});
    const int y = b.formula("mul", {b.formula("mul", {b.load(1, kFloat32, {n, 1}), slope}), top});
    b.store(2, y, {n, 1});
    cases.push_back(
        {make_kernel("kept", {{kFloat32, 3 * n, false}, {kFloat32, 3 * n, false}, {kFloat32, 3 * n, true}}, {b.nest}),
         {{x, g, zeros_like(x)}},
         {{}, {}, gelu_erf_grad(g, x) * amax(gelu_erf(x), {1}, true)}});
  }
  check(cases);
}

TEST_CASE("generated transposes and reversed layouts copy every element") {
  manual_seed(9);
  std::vector<Case> cases;
  for (auto [m, n] : {std::pair<int64_t, int64_t>{8, 8}, {64, 64}, {65, 130}, {7, 300}}) {
    for (DType dtype : {kFloat32, kInt8, kBFloat16}) {
      const Tensor x = cast(mul(normal({3, n, m}), 20.0), dtype);
      // Read along the columns; and written along them.
      for (bool stores : {false, true}) {
        NestBuilder b(Structure::Pointwise, {3, m, n});
        const NestBuilder::Strides dense = {m * n, n, 1}, crossed = {m * n, 1, m};
        b.store(1, b.load(0, dtype, stores ? dense : crossed), stores ? crossed : dense);
        const Tensor want =
            stores ? contiguous(transpose(reshape(x, {3, m, n}), 1, 2)) : contiguous(transpose(x, 1, 2));
        cases.push_back({make_kernel("transpose", {{dtype, 3 * m * n, false}, {dtype, 3 * m * n, true}}, {b.nest}),
                         {{x, zeros({3, m, n}, dtype)}},
                         {{}, want}});
      }
    }
  }
  check(cases);
}

TEST_CASE("an index out of range is reported by its number, and read nowhere") {
  const int64_t n = 40;
  NestBuilder b(Structure::Pointwise, {n, 3});
  const int index = b.load(0, kInt64, {1, 0}), other = b.load(1, kInt64, {1, 0});
  const int first = b.load_at(2, kFloat32, {0, 1}, {{index, 3, 5}}),
            second = b.load_at(2, kFloat32, {0, 1}, {{other, 3, 5}});
  b.store(3, b.formula("add", {first, second}), {3, 1});
  NestBuilder lanes(Structure::Pointwise, {n});
  lanes.store(4, lanes.load_at(2, kFloat32, {0}, {{lanes.load(0, kInt64, {1}), 3, 5}}), {1});
  const kernel::Kernel k = make_kernel(
      "gather",
      {{kInt64, n, false}, {kInt64, n, false}, {kFloat32, 15, false}, {kFloat32, 3 * n, true}, {kFloat32, n, true}},
      {b.nest, lanes.nest});
  const Tensor table = varied({5, 3});
  auto run = [&](double in_first, double in_second) {
    auto indices = [&](double odd_one) {
      return filled({n}, kInt64, [=](int64_t i) { return i == 33 ? odd_one : static_cast<double>(i % 10 - 5); });
    };
    const Tensor a = indices(in_first), c = indices(in_second), out = zeros({n, 3}), gathered = zeros({n});
    const int failed = launch(k, {{a, c, table, out, gathered}});
    if (failed == 0) {
      CHECK(same_bits(out, add(index_select(table, 0, where(lt(a, 0), add(a, 5), a)),
                               index_select(table, 0, where(lt(c, 0), add(c, 5), c)))));
    }
    return failed;
  };
  CHECK(run(4, -5) == 0);
  CHECK(run(4, 5) == 2);
  CHECK(run(-6, 5) == 1);
}

TEST_CASE("nests that differ in sizes alone share a function") {
  std::vector<kernel::Buffer> buffers;
  std::vector<kernel::Nest> nests;
  KernelRun run;
  std::vector<Tensor> want;
  for (int64_t n : {100, 7, 20000, 0, 33}) {
    NestBuilder b(Structure::Pointwise, {n});
    const int at = static_cast<int>(buffers.size());
    const int p = b.load(at, kFloat32, {1}), g = b.load(at + 1, kFloat32, {1});
    b.store(at, b.formula("sub", {p, b.formula("mul", {g, b.scalar(0)})}), {1});
    nests.push_back(b.nest);
    for (bool written : {true, false}) {
      buffers.push_back({kFloat32, n, written});
      run.buffers.push_back(varied({n}, kFloat32, at + written));
    }
    want.push_back(sub(run.buffers[run.buffers.size() - 2], mul(run.buffers.back(), 0.5)));
    want.emplace_back();
  }
  run.scalars = {0.5};
  const kernel::Kernel k = make_kernel("step", buffers, nests, 1);
  const std::string source = target_of(DeviceType::CPU).emit(k);
  CHECK(source.find("void nest_0_0(") != std::string::npos);
  CHECK(source.find("void nest_0_1(") == std::string::npos);
  CHECK(source == target_of(DeviceType::CPU).emit(k));
  check({{k, run, want}});
}

}  // namespace fuselet::test
