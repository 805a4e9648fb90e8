// Samples of gathers, scatters and random operators.
#include "tests/structured_samples.h"

namespace fuselet::testing {
namespace {

void gather(SampleList& s) {
  s.add("rows", {s.x({4, 3}), integer(0), s.indices({2, 3}, 4)});
  s.add("columns", {s.x({4, 3}, Layout::Permuted), integer(-1), s.indices({4, 5}, 3)});
  s.add("int32", {s.x({4, 3}), integer(1), s.indices({2, 2}, 3, DType::Int32)});
  s.add("negative", {s.x({5}), integer(0), tensor_of({3}, DType::Int64, {-1, -5, 2})});
  s.add("nothing", {s.x({4, 3}), integer(0), s.indices({0, 3}, 4)});
}

void scatter_add(SampleList& s) {
  s.add("rows", {s.x({4, 3}), integer(0), s.indices({5, 3}, 4), s.x({5, 3})});
  s.add("columns", {s.x({4, 3}), integer(1), s.indices({4, 6}, 3), s.x({4, 6}, Layout::Permuted)});
  s.add("part", {s.x({4, 3}, Layout::Permuted), integer(0), s.indices({2, 2}, 4), s.x({3, 3})});
  s.add("nothing", {s.x({4, 3}), integer(0), s.indices({0, 3}, 4), s.x({2, 3})});
}

void index_select(SampleList& s) {
  s.add("rows", {s.x({4, 3}), integer(0), s.indices({6}, 4)});
  s.add("columns", {s.x({4, 3}, Layout::Permuted), integer(-1), s.indices({2}, 3)});
  s.add("middle", {s.x({2, 4, 3}), integer(1), s.indices({3}, 4, DType::Int32)});
  s.add("nothing", {s.x({4, 3}), integer(0), s.indices({0}, 4)});
}

void index_add(SampleList& s) {
  s.add("rows", {s.x({4, 3}), integer(0), s.indices({6}, 4), s.x({6, 3})});
  s.add("columns", {s.x({4, 3}), integer(-1), s.indices({5}, 3), s.x({4, 5}, Layout::Permuted)});
  s.add("nothing", {s.x({4, 3}), integer(0), s.indices({0}, 4), s.x({0, 3})});
}

void scatter(SampleList& s) {
  scatter_add(s);
  s.add("0-d", {s.x({}), integer(0), s.indices({}, 1), s.x({})});
}

void scatter_fold(SampleList& s) {
  for (const char* fold : {"prod", "amax", "amin"}) {
    s.add("rows", {s.x({4, 3}), integer(0), s.indices({5, 3}, 4), s.x({5, 3}), text(fold)});
    s.add("part", {s.x({4, 3}, Layout::Permuted), integer(-1), s.indices({2, 2}, 3), s.x({3, 3}), text(fold)});
    s.add("nothing", {s.x({4, 3}), integer(0), s.indices({0, 3}, 4), s.x({2, 3}), text(fold)});
  }
}

void argsort(SampleList& s) {
  for (bool descending : {false, true}) {
    s.add("rows", {s.x({4, 7}), integer(-1), descending});
    s.add("columns", {s.x({5, 3, 2}, Layout::Permuted), integer(0), descending});
    s.add("ties", {s.x({3, 40}, Layout::Contiguous, {-1, 1, true}), integer(1), descending});
    s.add("long", {s.x({2, 2500}), integer(1), descending});
  }
  s.add("0-d", {s.x({}), integer(0), false});
  s.add("empty", {s.x({0, 3}), integer(0), false});
}

void embedding(SampleList& s) {
  s.add("vector", {s.x({7, 4}), s.indices({5}, 7), kNone});
  s.add("matrix", {s.x({7, 4}, Layout::Permuted), s.indices({2, 3}, 7), integer(2)});
  s.add("0-d", {s.x({7, 4}), s.indices({}, 7, DType::Int32), kNone});
  s.add("nothing", {s.x({7, 4}), s.indices({0}, 7), kNone});
}

void embedding_grad(SampleList& s) {
  s.add("vector", {s.x({9, 4}), s.indices({9}, 5), integer(5), kNone});
  s.add("padding", {s.x({2, 3, 4}, Layout::Permuted), s.indices({2, 3}, 3), integer(3), integer(1)});
  s.add("nothing", {s.x({0, 4}), s.indices({0}, 5), integer(5), kNone});
}

void slice_scatter(SampleList& s) {
  s.add("step", {s.x({5, 4}), s.x({2, 4}), integer(0), integer(1), integer(5), integer(2)});
  s.add("columns", {s.x({3, 6}, Layout::Permuted), s.x({3, 2}), integer(-1), integer(-2), kNone, integer(1)});
  s.add("nothing", {s.x({3, 6}), s.x({0, 6}), integer(0), integer(2), integer(1), integer(1)});
}

void select_scatter(SampleList& s) {
  s.add("row", {s.x({5, 4}), s.x({4}), integer(0), integer(2)});
  s.add("column", {s.x({5, 4}, Layout::Permuted), s.x({5}, Layout::Sliced), integer(1), integer(-1)});
}

void as_strided_scatter(SampleList& s) {
  s.add("diagonal", {s.x({4, 4}), s.x({4}), ints({4}), ints({5}), integer(0)});
  s.add("block", {s.x({12}), s.x({2, 3}, Layout::Permuted), ints({2, 3}), ints({6, 2}), integer(1)});
}

void as_strided_grad(SampleList& s) {
  s.add("windows", {s.x({3, 3}), ints({6}), ints({1}), ints({1, 1}), integer(1)});
  s.add("diagonal", {s.x({4}), ints({4, 4}), ints({4, 1}), ints({5}), integer(0)});
}

void index(SampleList& s) {
  s.add("vector", {s.x({5, 3}), tensor_of({4}, DType::Int64, {0, -1, 2, 0})});
  s.add("matrix", {s.x({5}, Layout::Sliced), s.indices({2, 3}, 5)});
}

void masked_fill(SampleList& s) {
  s.add("same", {s.x({4, 5}), s.mask({4, 5}), number(1)});
  s.add("broadcast", {s.x({4, 5}, Layout::Permuted), s.mask({5}), number(2.5)});
  s.add("tensor", {s.x({4, 5}), s.mask({4, 1}), s.x({})});
}

void clamp(SampleList& s) {
  s.add("both", {s.x({4, 5}), number(-1), number(2)});
  s.add("low", {s.x({4, 5}, Layout::Sliced), number(1), kNone});
  s.add("high", {s.x({4, 5}), kNone, s.x({5})});
}

void random(SampleList& s) {
  s.add("matrix", {ints({3, 37}), s.dtype(), kNone});
  s.add("0-d", {ints({}), s.dtype(), kNone});
  s.add("empty", {ints({0, 3}), s.dtype(), kNone});
  s.add("long", {ints({1001}), s.dtype(), kNone});
}

void random_like(SampleList& s) {
  s.add("matrix", {s.x({3, 5}), kNone});
  s.add("permuted", {s.x({3, 5}, Layout::Permuted), DType::Float64});
}

void randint(SampleList& s) {
  s.add("matrix", {integer(-3), integer(10), ints({3, 37}), s.dtype(), kNone});
  s.add("one value", {integer(4), integer(5), ints({9}), s.dtype(), kNone});
  s.add("empty", {integer(0), integer(2), ints({0}), s.dtype(), kNone});
}

void bernoulli(SampleList& s) {
  s.add("half", {ints({3, 20}), 0.5, kNone});
  s.add("rarely", {ints({70}), 0.1, kNone});
  s.add("never", {ints({5}), 0.0, kNone});
  s.add("always", {ints({5}), 1.0, kNone});
  s.add("nothing", {ints({0, 3}), 0.5, kNone});
}

void dropout_forward(SampleList& s) {
  for (double p : {0.0, 0.25, 0.5, 1.0}) s.add("contiguous", {s.x({5, 37}), p});
  s.add("permuted", {s.x({5, 7}, Layout::Permuted), 0.3});
  s.add("sliced", {s.x({5, 7}, Layout::Sliced), 0.3});
  s.add("0-d", {s.x({}), 0.5});
  s.add("empty", {s.x({0, 3}), 0.5});
}

void dropout_grad(SampleList& s) {
  s.add("contiguous", {s.x({5, 7}), s.mask({5, 7}), 0.3});
  s.add("permuted", {s.x({5, 7}, Layout::Permuted), s.mask({5, 7}), 0.5});
}

void dropout(SampleList& s) {
  s.add("training", {s.x({5, 7}), 0.3, true});
  s.add("not training", {s.x({5, 7}), 0.3, false});
  s.add("certain", {s.x({5, 7}), 0.0, true});
}

}  // namespace

std::vector<SamplerRow> indexing_samplers() {
  return {{"gather", gather},
          {"scatter_add", scatter_add},
          {"scatter", scatter},
          {"index_copy", index_add},
          {"scatter_fold", scatter_fold},
          {"argsort", argsort},
          {"index_select", index_select},
          {"index_add", index_add},
          {"embedding", embedding},
          {"embedding_grad", embedding_grad},
          {"slice_scatter", slice_scatter},
          {"select_scatter", select_scatter},
          {"as_strided_scatter", as_strided_scatter},
          {"as_strided_grad", as_strided_grad},
          {"index", index},
          {"masked_fill", masked_fill},
          {"clamp", clamp},
          {"rand", random},
          {"randn", random},
          {"rand_like", random_like},
          {"randn_like", random_like},
          {"randint", randint},
          {"bernoulli", bernoulli},
          {"dropout_forward", dropout_forward},
          {"dropout_grad", dropout_grad},
          {"dropout", dropout}};
}

}  // namespace fuselet::testing
