// Views and joins, as copies: which element of the input each element of the result shows.
#include <algorithm>

#include "backends/reference/promotion.h"
#include "backends/reference/reference.h"

namespace fuselet::reference {
namespace {

// A tensor of `sizes` whose element at an index is x's element at source(index).
template <class F>
RefTensor picked(const RefTensor& x, std::vector<int64_t> sizes, F&& source) {
  RefTensor out = make(std::move(sizes), x.dtype);
  for_each_index(out.sizes, [&](const Index& index) { out.at(index) = x.at(source(index)); });
  return out;
}

RefTensor reshaped(const RefTensor& x, std::vector<int64_t> sizes) {
  int64_t known = 1;
  for (int64_t s : sizes) known *= s == -1 ? 1 : s;
  for (int64_t& s : sizes) {
    if (s == -1) s = x.count() / known;
  }
  RefTensor out = make(std::move(sizes), x.dtype);
  out.values = x.values;
  return out;
}

RefTensor permuted(const RefTensor& x, const std::vector<int64_t>& dims) {
  std::vector<int64_t> sizes;
  for (int64_t d : dims) sizes.push_back(x.sizes[static_cast<size_t>(wrap(d, x.rank()))]);
  return picked(x, sizes, [&](const Index& index) {
    Index from(index.size());
    for (size_t i = 0; i < dims.size(); ++i) from[static_cast<size_t>(wrap(dims[i], x.rank()))] = index[i];
    return from;
  });
}

}  // namespace

void view(RefCall& call) { call.outs = {reshaped(call.tensor(0), call.ints(1))}; }

void permute(RefCall& call) { call.outs = {permuted(call.tensor(0), call.ints(1))}; }

void transpose(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < x.rank(); ++d) dims.push_back(d);
  if (x.rank() > 0) {
    std::swap(dims[static_cast<size_t>(wrap(call.integer(1), x.rank()))],
              dims[static_cast<size_t>(wrap(call.integer(2), x.rank()))]);
  }
  call.outs = {permuted(x, dims)};
}

void expand(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  std::vector<int64_t> sizes = call.ints(1);
  size_t shift = sizes.size() - x.sizes.size();
  for (size_t d = shift; d < sizes.size(); ++d) {
    if (sizes[d] == -1) sizes[d] = x.sizes[d - shift];
  }
  call.outs = {picked(x, sizes, [&](const Index& index) {
    Index from(x.sizes.size());
    for (size_t d = 0; d < from.size(); ++d) from[d] = x.sizes[d] == 1 ? 0 : index[d + shift];
    return from;
  })};
}

void squeeze(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  std::vector<int64_t> sizes;
  for (int64_t d = 0; d < x.rank(); ++d) {
    bool named = !call.has(1) || wrap(call.integer(1), x.rank()) == d;
    int64_t size = x.sizes[static_cast<size_t>(d)];
    if (size != 1 || !named) sizes.push_back(size);
  }
  call.outs = {reshaped(x, sizes)};
}

void unsqueeze(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  std::vector<int64_t> sizes = x.sizes;
  sizes.insert(sizes.begin() + wrap(call.integer(1), x.rank() + 1), 1);
  call.outs = {reshaped(x, sizes)};
}

void slice(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  size_t dim = static_cast<size_t>(wrap(call.integer(1), x.rank()));
  int64_t size = x.sizes[dim], step = call.integer(4);
  auto bound = [&](size_t arg, int64_t otherwise) {
    return call.has(arg) ? std::clamp<int64_t>(wrap(call.integer(arg), size), 0, size) : otherwise;
  };
  int64_t start = bound(2, 0), end = bound(3, size);
  std::vector<int64_t> sizes = x.sizes;
  sizes[dim] = 0;
  for (int64_t i = start; i < end; i += step) ++sizes[dim];
  call.outs = {picked(x, sizes, [&](Index index) {
    index[dim] = start + step * index[dim];
    return index;
  })};
}

void select(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  int64_t dim = wrap(call.integer(1), x.rank());
  int64_t entry = wrap(call.integer(2), x.sizes[static_cast<size_t>(dim)]);
  std::vector<int64_t> sizes = x.sizes;
  sizes.erase(sizes.begin() + dim);
  call.outs = {picked(x, sizes, [&](Index index) {
    index.insert(index.begin() + dim, entry);
    return index;
  })};
}

void as_strided(RefCall& call) {
  const RefTensor& x = call.tensor(0);
  const std::vector<int64_t>& strides = call.ints(2);
  RefTensor out = make(call.ints(1), x.dtype);
  for_each_index(out.sizes, [&](const Index& index) {
    int64_t at = call.integer(3);
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
    out.at(index) = x.memory[static_cast<size_t>(at)];
  });
  call.outs = {out};
}

void alias(RefCall& call) { call.outs = {reshaped(call.tensor(0), call.tensor(0).sizes)}; }

void cat(RefCall& call) {
  const std::vector<RefTensor>& parts = call.tensors(0);
  size_t dim = static_cast<size_t>(wrap(call.integer(1), parts[0].rank()));
  std::vector<int64_t> sizes = parts[0].sizes;
  DType dtype = parts[0].dtype;
  for (size_t k = 1; k < parts.size(); ++k) {
    sizes[dim] += parts[k].sizes[dim];
    dtype = wider(dtype, parts[k].dtype);
  }
  RefTensor out = make(sizes, dtype);
  int64_t start = 0;
  for (const RefTensor& part : parts) {
    for_each_index(part.sizes, [&](const Index& index) {
      Index to = index;
      to[dim] += start;
      out.at(to) = part.at(index);
    });
    start += part.sizes[dim];
  }
  call.outs = {out};
}

}  // namespace fuselet::reference
