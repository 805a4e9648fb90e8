// Every operator on the CPU, in every dtype, over all samples, against the double-precision reference.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/decomposition.h"
#include "core/generator.h"
#include "tests/op_samples.h"
#include "tests/tolerance.h"

using namespace fuselet;
using namespace fuselet::testing;
using reference::RefTensor;

namespace {

constexpr uint64_t kSeed = 77;

std::vector<RefTensor> expected(const Op& op, const OpSample& sample) {
  return reference::evaluate(op, reference::to_reference(sample.args), {kSeed, 0});
}

// One line for each operator, form and dtype that fails, with its smallest failing call.
class Report {
 public:
  // `expect` gives the expected results, `run` the actual ones.
  template <class Want, class Run>
  void check(const Op& op, const OpSample& sample, bool decomposed, Want&& expect, Run&& run) {
    Comparison worst;
    try {
      std::vector<RefTensor> want = expect();
      manual_seed(kSeed);
      std::vector<Tensor> got = run();
      if (got.size() != want.size()) worst = {INFINITY, concat(got.size(), " results, expected ", want.size())};
      for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
        Comparison c = compare(got[i], want[i], tolerance_of(op.name, want[i].dtype, decomposed));
        if (std::string_view(op.name) == "empty" && got[i].dtype() == want[i].dtype) c.percent = 0;
        if (c.percent > worst.percent) worst = {c.percent, concat("result ", i, " ", c.largest)};
      }
    } catch (const std::exception& e) {
      worst = {INFINITY, concat("throws: ", e.what())};
    }
    ++calls_;
    if (worst.percent > 100 && (failure_.empty())) {
      failure_ = concat(describe(op, sample), ": ", worst.largest, " (", worst.percent, " % of the allowed error)");
    }
    if (worst.percent <= 100 && worst.percent > largest_) {
      largest_ = worst.percent;
      where_ = describe(op, sample);
    }
  }
  void close() {
    CHECK_MESSAGE(failure_.empty(), failure_);
    failure_.clear();
  }
  ~Report() {
    MESSAGE(calls_, " calls; the largest error that passed is ", largest_, " % of the allowed one, in ", where_);
  }

 private:
  int calls_ = 0;
  double largest_ = 0;
  std::string failure_, where_;
};

template <class F>
void for_each_sample(F&& f) {
  Report report;
  for (const Op& op : all_ops()) {
    if (!reference::has_reference(op)) continue;
    for (DType dtype : dtypes_of(op)) {
      for (const OpSample& sample : samples_of(op, dtype)) f(report, op, sample);
      report.close();
    }
  }
}

std::vector<Tensor> run_decomposition(const Op& op, const OpSample& sample) {
  std::vector<Arg> args;
  for (const OwnedArg& arg : sample.args) args.push_back(view_of(arg));
  Call call{&op, args.data(), static_cast<int>(args.size()), nullptr, 0};
  std::vector<Tensor> outs(static_cast<size_t>(count_outputs(call)));
  call.outs = outs.data();
  call.num_outs = static_cast<int>(outs.size());
  decomposition_of(op)(call);
  return outs;
}

// A pointwise row is taken apart when its operands are of one floating dtype that kernels calculate in.
bool takes_apart(const Op& op, const OpSample& sample) {
  if (!decomposition_of(op) || op.kind != OpKind::Pointwise || op.id == OpId::copy) return decomposition_of(op);
  std::set<DType> dtypes;
  for (const OwnedArg& arg : sample.args) {
    if (auto* t = std::get_if<Tensor>(&arg)) dtypes.insert(t->dtype());
  }
  return dtypes == std::set{DType::Float32} || dtypes == std::set{DType::Float64};
}

// A result can be written into self if it has self's shape and no higher category.
bool fits_in_place(const OpSample& sample, const RefTensor& result) {
  const Tensor* self = std::get_if<Tensor>(&sample.args[0]);
  if (!self || category_of(result.dtype) > category_of(self->dtype())) return false;
  if (reference::to_reference(*self).sizes != result.sizes) return false;
  for (size_t d = 0; d < self->sizes().size(); ++d) {
    if (self->strides()[d] == 0 && self->sizes()[d] > 1) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("parity: every operator has samples and a reference") {
  for (const Op& op : all_ops()) {
    CAPTURE(op.name);
    CHECK(reference::has_reference(op));
    for (DType dtype : dtypes_of(op)) CHECK(!samples_of(op, dtype).empty());
  }
}

TEST_CASE("parity: every operator agrees with the reference") {
  for_each_sample([](Report& report, const Op& op, const OpSample& sample) {
    report.check(
        op, sample, false, [&] { return expected(op, sample); }, [&] { return run_sample(op, sample); });
  });
}

TEST_CASE("parity: every decomposition agrees with the reference") {
  for_each_sample([](Report& report, const Op& op, const OpSample& sample) {
    if (takes_apart(op, sample))
      report.check(
          op, sample, true, [&] { return expected(op, sample); }, [&] { return run_decomposition(op, sample); });
  });
}

TEST_CASE("parity: the in-place form writes what the functional one returns") {
  for_each_sample([](Report& report, const Op& op, const OpSample& sample) {
    if (!op.in_place_form || op.composite) return;
    std::vector<RefTensor> result = expected(op, sample);
    if (!fits_in_place(sample, result[0])) return;
    result[0].dtype = std::get<Tensor>(sample.args[0]).dtype();
    for (double& v : result[0].values) v = reference::stored_as(v, result[0].dtype, true);
    report.check(
        op, sample, false, [&] { return result; }, [&] { return run_sample(op, sample, true); });
  });
}
