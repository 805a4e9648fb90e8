// Samples of reductions, views, joins, factories and the composites that rearrange.
#include "tests/structured_samples.h"

namespace fuselet::testing {
namespace {

// Calls f(what, tensor) for one tensor of each layout and for the corner shapes that a reduction meets.
template <class F>
void each_reduced(SampleList& s, F&& f) {
  f("contiguous", s.x({3, 4, 5}));
  f("sliced", s.x({3, 4, 5}, Layout::Sliced));
  f("permuted", s.x({3, 4, 5}, Layout::Permuted));
  f("expanded", s.x({3, 4, 5}, Layout::Expanded));
}

const std::initializer_list<std::initializer_list<int64_t>> kDimLists = {{}, {0}, {1}, {-1}, {0, 2}, {1, 2}};

void sum(SampleList& s) {
  each_reduced(s, [&](const char* what, const Tensor& x) {
    for (auto dims : kDimLists) s.add(what, {x, ints(dims), false, kNone});
    s.add(what, {x, ints({1}), true, kNone});
  });
  s.add("0-d", {s.x({}), ints({}), false, kNone});
  s.add("empty", {s.x({0, 3}), ints({0}), false, kNone});
  s.add("empty", {s.x({0, 3}), ints({1}), true, kNone});
  s.add("long rows", {s.x({3, 1000}), ints({1}), false, kNone});
  s.add("long columns", {s.x({1000, 3}), ints({0}), false, kNone});
  s.add("dtype", {s.x({4, 3}), ints({0}), false, DType::Float64});
}

void mean(SampleList& s) {
  each_reduced(s, [&](const char* what, const Tensor& x) {
    for (auto dims : kDimLists) s.add(what, {x, ints(dims), false, kNone});
  });
  s.add("0-d", {s.x({}), ints({}), true, kNone});
  s.add("empty", {s.x({0, 3}), ints({0}), false, kNone});
  s.add("empty", {s.x({0, 3}), ints({1}), false, kNone});
  s.add("long", {s.x({2, 700}), ints({1}), false, kNone});
  s.add("dtype", {s.x({4, 3}), ints({}), false, DType::Float32});
}

void extremum(SampleList& s) {
  each_reduced(s, [&](const char* what, const Tensor& x) {
    for (auto dims : kDimLists) s.add(what, {x, ints(dims), false});
    s.add(what, {x, ints({0}), true});
  });
  s.add("0-d", {s.x({}), ints({}), false});
  s.add("long", {s.x({2, 300}), ints({1}), false});
  s.add("empty", {s.x({0, 3}), ints({1}), false});
}

void argmax(SampleList& s) {
  each_reduced(s, [&](const char* what, const Tensor& x) {
    s.add(what, {x, kNone, false});
    for (int64_t dim : {0, 1, -1}) s.add(what, {x, integer(dim), dim == 1});
  });
  s.add("0-d", {s.x({}), integer(0), false});
  s.add("ties", {s.x({6, 8}, Layout::Contiguous, {-1, 1, true}), integer(1), false});
  s.add("empty", {s.x({0, 3}), integer(1), false});
}

void var(SampleList& s) {
  each_reduced(s, [&](const char* what, const Tensor& x) {
    for (auto dims : kDimLists) s.add(what, {x, ints(dims), integer(1), false});
    s.add(what, {x, ints({1}), integer(0), true});
  });
  s.add("long", {s.x({2, 300}), ints({1}), integer(1), false});
}

void view(SampleList& s) {
  s.add("split", {s.x({4, 6}), ints({2, 2, -1})});
  s.add("merge", {s.x({2, 3, 4}), ints({6, 4})});
  s.add("sliced", {s.x({2, 3}, Layout::Sliced), ints({1, 2, 3, 1})});
  s.add("0-d", {s.x({}), ints({1, 1})});
  s.add("empty", {s.x({0, 3}), ints({3, 0})});
}

void reshape(SampleList& s) {
  view(s);
  s.add("copies", {s.x({4, 6}, Layout::Permuted), ints({3, -1})});
  s.add("same", {s.x({4, 6}, Layout::Permuted), ints({4, 6})});
}

void permute(SampleList& s) {
  s.add("contiguous", {s.x({2, 3, 4}), ints({2, 0, 1})});
  s.add("sliced", {s.x({2, 3}, Layout::Sliced), ints({-1, 0})});
  s.add("0-d", {s.x({}), ints({})});
}

void transpose(SampleList& s) {
  s.add("contiguous", {s.x({2, 3, 4}), integer(0), integer(-1)});
  s.add("permuted", {s.x({2, 3}, Layout::Permuted), integer(0), integer(1)});
  s.add("0-d", {s.x({}), integer(0), integer(-1)});
}

void expand(SampleList& s) {
  s.add("repeat", {s.x({3, 1}), ints({3, 4})});
  s.add("new leading", {s.x({3, 1}, Layout::Sliced), ints({2, -1, 5})});
  s.add("0-d", {s.x({}), ints({2, 3})});
  s.add("to nothing", {s.x({1, 3}), ints({0, 3})});
}

void squeeze(SampleList& s) {
  s.add("all", {s.x({1, 3, 1}), kNone});
  s.add("one", {s.x({1, 3, 1}), integer(-1)});
  s.add("not 1", {s.x({1, 3}), integer(1)});
}

void unsqueeze(SampleList& s) {
  for (int64_t dim : {0, 1, -1}) s.add("contiguous", {s.x({2, 3}), integer(dim)});
  s.add("0-d", {s.x({}), integer(0)});
  s.add("permuted", {s.x({2, 3}, Layout::Permuted), integer(1)});
}

void slice(SampleList& s) {
  s.add("all", {s.x({5, 4}), integer(0), kNone, kNone, integer(1)});
  s.add("step", {s.x({5, 4}), integer(0), integer(1), integer(5), integer(2)});
  s.add("negative", {s.x({5, 4}), integer(-1), integer(-3), integer(-1), integer(1)});
  s.add("nothing", {s.x({5, 4}), integer(0), integer(3), integer(2), integer(1)});
  s.add("past the end", {s.x({5, 4}, Layout::Permuted), integer(1), integer(2), integer(99), integer(1)});
}

void select(SampleList& s) {
  s.add("first", {s.x({3, 4}), integer(0), integer(0)});
  s.add("last", {s.x({3, 4}), integer(1), integer(-1)});
  s.add("vector", {s.x({3}, Layout::Sliced), integer(0), integer(1)});
}

void as_strided(SampleList& s) {
  s.add("windows", {s.x({6}), ints({3, 3}), ints({1, 1}), integer(1)});
  s.add("diagonal", {s.x({4, 4}), ints({4}), ints({5}), integer(0)});
}

void itself(SampleList& s) {
  s.add("contiguous", {s.x({2, 3})});
  s.add("permuted", {s.x({2, 3}, Layout::Permuted)});
  s.add("0-d", {s.x({})});
  s.add("empty", {s.x({0, 2})});
}

void cat(SampleList& s) {
  s.add("rows", {std::vector<Tensor>{s.x({2, 3}), s.x({1, 3}), s.x({0, 3})}, integer(0)});
  s.add("columns", {std::vector<Tensor>{s.x({2, 3}, Layout::Permuted), s.x({2, 2}, Layout::Sliced)}, integer(-1)});
  s.add("one", {std::vector<Tensor>{s.x({2})}, integer(0)});
}

void stack(SampleList& s) {
  s.add("matrices", {std::vector<Tensor>{s.x({2, 3}), s.x({2, 3}, Layout::Permuted)}, integer(1)});
  s.add("0-d", {std::vector<Tensor>{s.x({}), s.x({}), s.x({})}, integer(0)});
}

void flatten(SampleList& s) {
  s.add("all", {s.x({2, 3, 4}), integer(0), integer(-1)});
  s.add("some", {s.x({2, 3, 4}, Layout::Permuted), integer(1), integer(2)});
  s.add("0-d", {s.x({}), integer(0), integer(-1)});
}

void t(SampleList& s) {
  s.add("matrix", {s.x({2, 3})});
  s.add("vector", {s.x({3})});
}

void expand_as(SampleList& s) { s.add("row", {s.x({1, 3}), s.x({4, 3})}); }

void narrow(SampleList& s) {
  s.add("rows", {s.x({5, 2}), integer(0), integer(1), integer(3)});
  s.add("columns", {s.x({2, 5}, Layout::Permuted), integer(-1), integer(4), integer(1)});
}

void sum_to_size(SampleList& s) {
  s.add("leading", {s.x({2, 3, 4}), ints({4})});
  s.add("repeated", {s.x({3, 4}, Layout::Sliced), ints({3, 1})});
  s.add("both", {s.x({2, 3, 4}, Layout::Permuted), ints({1, 4})});
  s.add("same", {s.x({3, 4}), ints({3, 4})});
}

void full(SampleList& s) {
  s.add("matrix", {ints({2, 3}), number(2.5), s.dtype(), kNone});
  s.add("0-d", {ints({}), number(1), s.dtype(), kNone});
  s.add("empty", {ints({0}), number(1), s.dtype(), kNone});
  s.add("natural", {ints({2}), number(7), kNone, kNone});
  s.add("natural", {ints({2}), number(true), kNone, kNone});
}

void sized(SampleList& s) {
  s.add("matrix", {ints({2, 3}), s.dtype(), kNone});
  s.add("empty", {ints({0, 2}), s.dtype(), kNone});
  s.add("default", {ints({4}), kNone, kNone});
}

void like(SampleList& s) {
  s.add("matrix", {s.x({2, 3}), kNone});
  s.add("permuted", {s.x({2, 3}, Layout::Permuted), kNone});
  s.add("dtype", {s.x({2, 3}), DType::Float32});
}

void full_like(SampleList& s) {
  s.add("matrix", {s.x({2, 3}), number(1.5), kNone});
  s.add("dtype", {s.x({0, 3}), number(1), DType::Int64});
}

void arange(SampleList& s) {
  s.add("count", {number(5), kNone, number(1), s.dtype(), kNone});
  s.add("step", {number(1), number(8), number(3), s.dtype(), kNone});
  s.add("down", {number(7), number(0), number(-2), s.dtype(), kNone});
  s.add("fractions", {number(0.5), number(3.0), number(0.5), kNone, kNone});
  s.add("long", {number(0), number(100), number(1), s.dtype(), kNone});
  s.add("nothing", {number(3), number(1), number(1), s.dtype(), kNone});
}

}  // namespace

std::vector<SamplerRow> arranging_samplers() {
  return {{"sum", sum},
          {"mean", mean},
          {"amax", extremum},
          {"amin", extremum},
          {"argmax", argmax},
          {"var", var},
          {"view", view},
          {"reshape", reshape},
          {"permute", permute},
          {"transpose", transpose},
          {"expand", expand},
          {"broadcast_to", expand},
          {"squeeze", squeeze},
          {"unsqueeze", unsqueeze},
          {"slice", slice},
          {"select", select},
          {"as_strided", as_strided},
          {"alias", itself},
          {"contiguous", itself},
          {"cat", cat},
          {"stack", stack},
          {"flatten", flatten},
          {"t", t},
          {"expand_as", expand_as},
          {"narrow", narrow},
          {"sum_to_size", sum_to_size},
          {"full", full},
          {"empty", sized},
          {"zeros", sized},
          {"ones", sized},
          {"zeros_like", like},
          {"ones_like", like},
          {"full_like", full_like},
          {"arange", arange}};
}

}  // namespace fuselet::testing
