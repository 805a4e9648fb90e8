// Samples of the rows that are not pointwise: one function a row, in a table by name.
#pragma once
#include "tests/op_samples.h"

namespace fuselet::testing {

// Collects the samples of one row in one dtype.
class SampleList {
 public:
  explicit SampleList(DType dtype) : dtype_(dtype) {}

  DType dtype() const { return dtype_; }
  std::vector<OpSample> take() { return std::move(samples_); }
  void add(std::string what, std::vector<OwnedArg> args) { samples_.push_back({std::move(what), std::move(args)}); }

  // A tensor of the sampled dtype.
  Tensor x(const std::vector<int64_t>& sizes, Layout layout = Layout::Contiguous, Elements elements = {}) {
    return sample_tensor(sizes, dtype_, numbers_, elements, layout);
  }
  // Integers of [0, below).
  Tensor indices(const std::vector<int64_t>& sizes, int64_t below, DType dtype = DType::Int64) {
    return sample_tensor(sizes, dtype, numbers_, {0, static_cast<double>(below - 1)});
  }
  Tensor mask(const std::vector<int64_t>& sizes) { return sample_tensor(sizes, DType::Bool, numbers_, {0, 1}); }

 private:
  DType dtype_;
  SampleNumbers numbers_{20240229};
  std::vector<OpSample> samples_;
};

using Sampler = void (*)(SampleList&);
struct SamplerRow {
  const char* op;
  Sampler fill;
};

// In the order of the files: tensor rearranging and reductions; numbers by index and chance; neural networks; scans and
// reductions in terms of others.
std::vector<SamplerRow> arranging_samplers();
std::vector<SamplerRow> indexing_samplers();
std::vector<SamplerRow> network_samplers();
std::vector<SamplerRow> scanning_samplers();

// Spellings of arguments that the variant would not take from a literal.
inline OwnedArg integer(int64_t i) { return SymInt(i); }
inline OwnedArg ints(std::initializer_list<int64_t> list) {
  Dims dims;
  for (int64_t i : list) dims.push_back(i);
  return dims;
}
inline OwnedArg number(auto value) { return Scalar(value); }
inline OwnedArg text(const char* s) { return std::string(s); }
inline const OwnedArg kNone;

}  // namespace fuselet::testing
