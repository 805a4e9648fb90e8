// Samples of scans, of reductions in terms of others, and of activations with a dimension.
#include <limits>

#include "tests/structured_samples.h"

namespace fuselet::testing {
namespace {

constexpr Elements kNearOne = {0.6, 1.4};

void each_scanned(SampleList& s, Elements elements, OwnedArg last) {
  for (int64_t dim : {0, 1, -1})
    s.add("contiguous", {s.x({3, 4, 5}, Layout::Contiguous, elements), integer(dim), last});
  s.add("permuted", {s.x({3, 4, 5}, Layout::Permuted, elements), integer(1), last});
  s.add("sliced", {s.x({3, 5}, Layout::Sliced, elements), integer(-1), last});
  s.add("expanded", {s.x({3, 4}, Layout::Expanded, elements), integer(0), last});
  s.add("0-d", {s.x({}, Layout::Contiguous, elements), integer(0), last});
  s.add("empty", {s.x({0, 3}), integer(0), last});
  s.add("empty lines", {s.x({3, 0}), integer(0), last});
  s.add("columns", {s.x({7, 70}, Layout::Contiguous, elements), integer(0), last});
  s.add("a warp and more", {s.x({2, 40}, Layout::Contiguous, elements), integer(1), last});
}

void scan_sum(SampleList& s) {
  for (bool reverse : {false, true}) each_scanned(s, {}, reverse);
  s.add("several tiles", {s.x({2, 1100}), integer(1), true});
}
void scan_product(SampleList& s) {
  for (bool reverse : {false, true}) each_scanned(s, kNearOne, reverse);
}
void scan_logaddexp(SampleList& s) {
  for (bool reverse : {false, true}) each_scanned(s, {}, reverse);
}

void cumsum(SampleList& s) {
  each_scanned(s, {}, kNone);
  s.add("dtype", {s.x({3, 4}), integer(1), DType::Float64});
}
void cumprod(SampleList& s) {
  each_scanned(s, kNearOne, kNone);
  s.add("dtype", {s.x({3, 4}, Layout::Contiguous, kNearOne), integer(1), DType::Float64});
}
void logcumsumexp(SampleList& s) {
  s.add("rows", {s.x({3, 4}), integer(1)});
  s.add("columns", {s.x({3, 4}, Layout::Permuted), integer(0)});
}

void prod(SampleList& s) {
  for (Layout layout : {Layout::Contiguous, Layout::Sliced, Layout::Permuted}) {
    s.add("all", {s.x({3, 4, 5}, layout, kNearOne), kNone, false, kNone});
    s.add("middle", {s.x({3, 4, 5}, layout, kNearOne), integer(1), layout == Layout::Sliced, kNone});
    s.add("last", {s.x({3, 4}, layout, kNearOne), integer(-1), false, kNone});
  }
  s.add("0-d", {s.x({}), kNone, true, kNone});
  s.add("empty", {s.x({0, 3}), integer(0), false, kNone});
  s.add("empty", {s.x({0, 3}), integer(1), true, kNone});
  s.add("empty", {s.x({0, 3}), kNone, false, kNone});
  s.add("dtype", {s.x({3, 4}, Layout::Contiguous, kNearOne), integer(0), false, DType::Float64});
}

void truth(SampleList& s) {
  const Elements halves{-1, 1, true};
  s.add("all", {s.x({3, 4}, Layout::Contiguous, halves), ints({}), false});
  s.add("rows", {s.x({6, 2}, Layout::Permuted, halves), ints({1}), false});
  s.add("two dims", {s.x({5, 2, 1}, Layout::Sliced, halves), ints({-1, 1}), true});
  s.add("empty", {s.x({0, 3}), ints({0}), false});
}

void count_nonzero(SampleList& s) {
  const Elements halves{-1, 1, true};
  s.add("all", {s.x({3, 4}, Layout::Contiguous, halves), ints({})});
  s.add("rows", {s.x({6, 5}, Layout::Permuted, halves), ints({1})});
  s.add("empty", {s.x({0, 3}), ints({0})});
}

void argmin(SampleList& s) {
  s.add("all", {s.x({3, 4}), kNone, false});
  for (int64_t dim : {0, -1}) s.add("along", {s.x({4, 5}, Layout::Permuted), integer(dim), dim == 0});
  s.add("ties", {s.x({6, 8}, Layout::Contiguous, {-1, 1, true}), integer(1), false});
}

// x with a NaN in each second place of floats.
Tensor with_nan(const Tensor& x) {
  if (!is_float(x.dtype())) return x;
  std::vector<double> values = x.to_vector();
  for (size_t i = 0; i < values.size(); i += 2) values[i] = std::numeric_limits<double>::quiet_NaN();
  std::vector<int64_t> sizes;
  for (SymInt d : x.sizes()) sizes.push_back(d.concrete());
  return tensor_of(sizes, x.dtype(), values);
}

void without_nan(SampleList& s) {
  s.add("plain", {s.x({3, 4}), ints({1}), false, kNone});
  s.add("all", {with_nan(s.x({3, 4})), ints({}), false, kNone});
  s.add("rows", {with_nan(s.x({4, 5})), ints({0}), true, kNone});
  s.add("nothing left", {with_nan(s.x({4, 1})), ints({1}), false, kNone});
}

void nan_to_num(SampleList& s) {
  s.add("plain", {s.x({3, 4}), number(0.0), kNone, kNone});
  s.add("numbers", {with_nan(s.x({3, 4})), number(1.5), number(2.0), number(-2.0)});
}

void bitwise_not(SampleList& s) {
  s.add("matrix", {s.x({3, 4})});
  s.add("permuted", {s.x({3, 4}, Layout::Permuted)});
}

void glu(SampleList& s) {
  s.add("last", {s.x({3, 4}), integer(-1)});
  s.add("first", {s.x({4, 3}, Layout::Permuted), integer(0)});
}

void prelu(SampleList& s) {
  s.add("one weight", {s.x({3, 4}), s.x({1})});
  s.add("channels", {s.x({2, 3, 4}), s.x({3})});
  s.add("matrix", {s.x({2, 3}, Layout::Permuted), s.x({3})});
}

}  // namespace

std::vector<SamplerRow> scanning_samplers() {
  return {{"scan_sum", scan_sum},
          {"scan_product", scan_product},
          {"scan_logaddexp", scan_logaddexp},
          {"cumsum", cumsum},
          {"cumprod", cumprod},
          {"logcumsumexp", logcumsumexp},
          {"prod", prod},
          {"all", truth},
          {"any", truth},
          {"count_nonzero", count_nonzero},
          {"argmin", argmin},
          {"nansum", without_nan},
          {"nanmean", without_nan},
          {"nan_to_num", nan_to_num},
          {"bitwise_not", bitwise_not},
          {"glu", glu},
          {"prelu", prelu}};
}

}  // namespace fuselet::testing
