// Every operator on a CUDA device, eager, against the double-precision reference: over all samples on a GPU, over some
// of them on the simulated device (FUSELET_TEST_FULL=1: all).
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

#include "backends/cuda/driver/load_driver.h"
#include "core/generator.h"
#include "tests/backends/cuda/device_tensors.h"
#include "tests/op_samples.h"
#include "tests/tolerance.h"

namespace fuselet::test {
namespace {

using namespace fuselet::testing;
using reference::RefTensor;

constexpr uint64_t kSeed = 77;
constexpr Device kCuda{DeviceType::CUDA, 0};
// Of the samples of one operator and dtype.
constexpr size_t kSamples = 2;

std::vector<OwnedArg> on_device(const OpSample& sample) {
  DeviceCopies copies(kCuda);
  std::vector<OwnedArg> out;
  for (const OwnedArg& arg : sample.args) {
    if (auto* t = std::get_if<Tensor>(&arg)) {
      out.emplace_back(std::in_place_type<Tensor>, copies(*t));
    } else if (auto* list = std::get_if<std::vector<Tensor>>(&arg)) {
      std::vector<Tensor> moved;
      for (const Tensor& t : *list) moved.push_back(copies(t));
      out.emplace_back(std::in_place_type<std::vector<Tensor>>, std::move(moved));
    } else if (std::holds_alternative<Device>(arg)) {
      out.emplace_back(std::in_place_type<Device>, kCuda);
    } else {
      out.push_back(arg);
    }
  }
  return out;
}

class Report {
 public:
  void add(const Op& op, const OpSample& sample, bool in_place, const std::vector<RefTensor>& want) {
    Comparison worst;
    std::string what;
    try {
      StateGuard on_cuda(&DispatchState::default_device, kCuda);
      ReplayDrawScope draw({kSeed, 0});
      std::vector<Tensor> got;
      for (const Tensor& t : call_with(op, on_device(sample), in_place)) {
        if (t.device() != kCuda) throw std::runtime_error("a result lies on the host");
        got.push_back(on_host(t));
      }
      if (got.size() != want.size()) worst = {INFINITY, concat(got.size(), " results, expected ", want.size())};
      for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
        Comparison c = compare(got[i], want[i], tolerance_of(op.name, want[i].dtype, true));
        if (std::string_view(op.name) == "empty" && got[i].dtype() == want[i].dtype) c.percent = 0;
        if (c.percent > worst.percent) worst = {c.percent, concat("result ", i, " ", c.largest)};
      }
    } catch (const std::exception& e) {
      worst = {INFINITY, concat("throws: ", e.what())};
    }
    std::lock_guard lock(mutex_);
    ++calls_;
    if (worst.percent <= 100) {
      largest_ = std::max(largest_, worst.percent);
      return;
    }
    ++failed_;
    if (reported_.insert(op.name).second)
      failures_.push_back(concat(describe(op, sample), in_place ? " in place" : "", ": ", worst.largest, " (",
                                 worst.percent, " % of the allowed error)"));
  }
  void close() {
    for (const std::string& f : failures_) CHECK_MESSAGE(false, f);
    MESSAGE(calls_, " calls, ", failed_, " of them wrong; the largest error that passed is ", largest_,
            " % of the allowed one");
  }

 private:
  std::mutex mutex_;
  int calls_ = 0, failed_ = 0;
  double largest_ = 0;
  std::set<std::string> reported_;
  std::vector<std::string> failures_;
};

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

void check_operator(const Op& op, Report& report) {
  const char* full = std::getenv("FUSELET_TEST_FULL");
  const bool all = full && *full == '1';
  for (DType dtype : dtypes_of(op)) {
    // One of each kind of held value.
    if (!all && dtype != DType::Float32 && dtype != DType::BFloat16 && dtype != DType::Int64) continue;
    const std::vector<OpSample> samples = samples_of(op, dtype);
    const size_t step = all ? 1 : std::max<size_t>(1, samples.size() / kSamples);
    for (size_t i = 0; i < samples.size(); i += step) {
      const OpSample& sample = samples[i];
      std::vector<RefTensor> want = reference::evaluate(op, reference::to_reference(sample.args), {kSeed, 0});
      report.add(op, sample, false, want);
      if (!op.in_place_form || op.composite || !fits_in_place(sample, want[0])) continue;
      want[0].dtype = std::get<Tensor>(sample.args[0]).dtype();
      for (double& v : want[0].values) v = reference::stored_as(v, want[0].dtype, true);
      report.add(op, sample, true, want);
    }
  }
}

TEST_CASE("gpu: every operator agrees with the reference on a CUDA device") {
  if (!cuda::is_available()) {
    MESSAGE("skipped: ", std::string(cuda::why_not_available()));
    return;
  }
  const char* only = std::getenv("FUSELET_TEST_OPS");  // names, for a look at some
  std::vector<const Op*> ops;
  for (const Op& op : all_ops()) {
    if (reference::has_reference(op) && (!only || std::string(only).find(op.name) != std::string::npos))
      ops.push_back(&op);
  }
  Report report;
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < ops.size();) check_operator(*ops[i], report);
  };
  std::vector<std::thread> threads;
  const unsigned count = cuda::driver().is_simulated() ? 1 : std::thread::hardware_concurrency();
  for (unsigned t = 1; t < count; ++t) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  report.close();
}

}  // namespace
}  // namespace fuselet::test
