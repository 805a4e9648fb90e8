// Elements written or added where indices, slices or strides say.
#include <algorithm>
#include <cmath>

#include "backends/reference/reference.h"

namespace fuselet::reference {
namespace {

RefTensor copy_of(const RefTensor& x) {
  RefTensor out = make(x.sizes, x.dtype);
  out.values = x.values;
  return out;
}

int64_t entry(double index, int64_t size) { return wrap(static_cast<int64_t>(index), size); }

// take(what is there, the element): what is there then.
template <class Take>
void scatter_by(RefCall& call, Take take) {
  const RefTensor &index = call.tensor(2), &src = call.tensor(3);
  RefTensor out = copy_of(call.tensor(0));
  int64_t dim = wrap(call.integer(1), out.rank());
  for_each_index(index.sizes, [&](const Index& at) {
    Index to = at;
    if (out.rank() > 0) to[static_cast<size_t>(dim)] = entry(index.at(at), out.sizes[static_cast<size_t>(dim)]);
    out.at(to) = take(out.at(to), src.at(at));
  });
  call.outs = {out};
}

template <class Take>
void index_by(RefCall& call, Take take) {
  const RefTensor &index = call.tensor(2), &source = call.tensor(3);
  RefTensor out = copy_of(call.tensor(0));
  int64_t dim = wrap(call.integer(1), out.rank());
  for_each_index(source.sizes, [&](const Index& at) {
    Index to = at;
    if (out.rank() > 0) {
      size_t d = static_cast<size_t>(dim);
      to[d] = entry(index.values[static_cast<size_t>(at[d])], out.sizes[d]);
    }
    out.at(to) = take(out.at(to), source.at(at));
  });
  call.outs = {out};
}

int64_t offset_of(const Index& index, const std::vector<int64_t>& strides, int64_t start) {
  for (size_t d = 0; d < index.size(); ++d) start += index[d] * strides[d];
  return start;
}

}  // namespace

void scatter_add(RefCall& call) {
  scatter_by(call, [](double there, double element) { return there + element; });
}
void scatter(RefCall& call) {
  scatter_by(call, [](double, double element) { return element; });
}
void index_add(RefCall& call) {
  index_by(call, [](double there, double element) { return there + element; });
}
void index_copy(RefCall& call) {
  index_by(call, [](double, double element) { return element; });
}

void scatter_fold(RefCall& call) {
  const std::string& fold = call.text(4);
  if (fold == "prod") return scatter_by(call, [](double there, double element) { return there * element; });
  const bool larger = fold == "amax";
  scatter_by(call, [larger](double there, double element) {
    if (std::isnan(there) || std::isnan(element)) return std::nan("");
    return larger ? std::max(there, element) : std::min(there, element);
  });
}

void embedding_grad(RefCall& call) {
  const RefTensor &grad = call.tensor(0), &indices = call.tensor(1);
  int64_t rows = call.integer(2);
  RefTensor out = make({rows, grad.sizes.back()}, grad.dtype);
  for_each_index(grad.sizes, [&](const Index& at) {
    int64_t row = entry(indices.at(Index(at.begin(), at.end() - 1)), rows);
    bool padding = call.has(3) && wrap(call.integer(3), rows) == row;
    if (!padding) out.at({row, at.back()}) += grad.at(at);
  });
  call.outs = {out};
}

void slice_scatter(RefCall& call) {
  const RefTensor& src = call.tensor(1);
  RefTensor out = copy_of(call.tensor(0));
  size_t dim = static_cast<size_t>(wrap(call.integer(2), out.rank()));
  int64_t size = out.sizes[dim];
  int64_t start = call.has(3) ? std::clamp<int64_t>(wrap(call.integer(3), size), 0, size) : 0;
  for_each_index(src.sizes, [&](const Index& at) {
    Index to = at;
    to[dim] = start + at[dim] * call.integer(5);
    out.at(to) = src.at(at);
  });
  call.outs = {out};
}

void select_scatter(RefCall& call) {
  const RefTensor& src = call.tensor(1);
  RefTensor out = copy_of(call.tensor(0));
  int64_t dim = wrap(call.integer(2), out.rank());
  int64_t where = wrap(call.integer(3), out.sizes[static_cast<size_t>(dim)]);
  for_each_index(src.sizes, [&](const Index& at) {
    Index to = at;
    to.insert(to.begin() + dim, where);
    out.at(to) = src.at(at);
  });
  call.outs = {out};
}

// self's elements lie at its own offset and strides; those that the view reaches take src's.
void as_strided_scatter(RefCall& call) {
  const RefTensor &self = call.tensor(0), &src = call.tensor(1);
  RefTensor out = copy_of(self);
  for_each_index(src.sizes, [&](const Index& from) {
    int64_t target = offset_of(from, call.ints(3), call.integer(4));
    for_each_index(self.sizes, [&](const Index& at) {
      if (offset_of(at, self.strides, self.offset) == target) out.at(at) = src.at(from);
    });
  });
  call.outs = {out};
}

void as_strided_grad(RefCall& call) {
  const RefTensor& grad = call.tensor(0);
  RefTensor out = make(call.ints(1), grad.dtype);
  for_each_index(grad.sizes, [&](const Index& from) {
    int64_t target = offset_of(from, call.ints(3), call.integer(4));
    for_each_index(out.sizes, [&](const Index& at) {
      if (offset_of(at, call.ints(2), 0) == target) out.at(at) += grad.at(from);
    });
  });
  call.outs = {out};
}

}  // namespace fuselet::reference
