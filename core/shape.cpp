#include "core/shape.h"

#include <algorithm>
#include <vector>

#include "core/error.h"

namespace fuselet {

void check_sizes(DimsView sizes, const char* op) {
  for (SymInt s : sizes) FUSELET_CHECK(s >= 0, op, ": sizes must not be negative, got ", to_string(sizes));
}

SymInt numel_of(DimsView sizes) {
  SymInt n = 1;
  for (SymInt s : sizes) n *= s;
  return n;
}

Dims contiguous_strides(DimsView sizes) {
  Dims strides(sizes.size(), 1);
  SymInt step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    step *= max(sizes[i], 1);
  }
  return strides;
}

bool is_contiguous(DimsView sizes, DimsView strides) {
  SymInt step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] == 1) continue;
    // Only then ask whether the tensor is empty: asking pins a symbolic size.
    if (strides[i] != step) return std::find(sizes.begin(), sizes.end(), SymInt(0)) != sizes.end();
    step *= sizes[i];
  }
  return true;
}

namespace {

// Dimensions from the slowest to the fastest varying; equal strides keep their order.
InlineVector<int, 6> order_in_memory(DimsView strides) {
  InlineVector<int, 6> order;
  for (size_t i = 0; i < strides.size(); ++i) order.push_back(static_cast<int>(i));
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return strides[static_cast<size_t>(b)] < strides[static_cast<size_t>(a)]; });
  return order;
}

}  // namespace

bool is_dense(DimsView sizes, DimsView strides) {
  if (is_contiguous(sizes, strides)) return true;
  auto order = order_in_memory(strides);
  SymInt step = 1;
  for (size_t k = order.size(); k-- > 0;) {
    size_t d = static_cast<size_t>(order[k]);
    if (sizes[d] == 1) continue;
    if (strides[d] != step) return false;
    step *= sizes[d];
  }
  return true;
}

namespace {

// Visits every element's cell, for layouts that interleave.
bool finds_shared_cell(DimsView sizes, DimsView strides) {
  int64_t count = numel_of(sizes).word(), span = span_of(sizes, strides);
  if (count > span) return true;
  std::vector<bool> taken(static_cast<size_t>(span));
  InlineVector<int64_t, 6> at;
  for (size_t d = 0; d < sizes.size(); ++d) at.push_back(0);
  for (int64_t i = 0, offset = 0; i < count; ++i) {
    if (taken[static_cast<size_t>(offset)]) return true;
    taken[static_cast<size_t>(offset)] = true;
    for (size_t d = sizes.size(); d-- > 0;) {
      offset += strides[d].word();
      if (++at[d] < sizes[d].word()) break;
      offset -= sizes[d].word() * strides[d].word();
      at[d] = 0;
    }
  }
  return false;
}

}  // namespace

bool has_overlap(DimsView sizes, DimsView strides) {
  bool expanded = false, symbolic = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    symbolic = symbolic || sizes[d].is_symbolic() || strides[d].is_symbolic();
    expanded = expanded || (strides[d] == 0 && sizes[d] > 1);
  }
  if (symbolic) return expanded;
  for (SymInt s : sizes) {
    if (s == 0) return false;
  }
  if (expanded) return true;
  // No two meet if every step is larger than what the faster dimensions reach together.
  auto order = order_in_memory(strides);
  int64_t reach = 0;
  for (size_t k = order.size(); k-- > 0;) {
    size_t d = static_cast<size_t>(order[k]);
    if (sizes[d] == 1) continue;
    if (strides[d].word() <= reach) return finds_shared_cell(sizes, strides);
    reach += (sizes[d].word() - 1) * strides[d].word();
  }
  return false;
}

Dims strides_like(DimsView sizes, DimsView like_sizes, DimsView like_strides) {
  if (is_contiguous(like_sizes, like_strides) || !is_dense(like_sizes, like_strides)) return contiguous_strides(sizes);
  auto order = order_in_memory(like_strides);
  Dims strides(sizes.size(), 1);
  SymInt step = 1;
  for (size_t k = order.size(); k-- > 0;) {
    size_t d = static_cast<size_t>(order[k]);
    strides[d] = step;
    step *= max(sizes[d], 1);
  }
  return strides;
}

Dims broadcast_sizes(DimsView a, DimsView b, const char* op) {
  if (a.size() < b.size()) std::swap(a, b);
  Dims out(a);
  size_t shift = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    SymInt x = a[shift + i], y = b[i];
    if (x == y || y == 1) continue;
    if (x == 1) {
      out[shift + i] = y;
    } else {
      fail(op, ": shapes ", to_string(a), " and ", to_string(b), " do not broadcast: sizes ", to_string(x), " and ",
           to_string(y), " differ in dimension ", shift + i, " and neither is 1");
    }
  }
  return out;
}

int64_t wrap_dim(int64_t dim, int64_t rank, const char* op) {
  int64_t r = std::max<int64_t>(rank, 1);
  FUSELET_CHECK_INDEX(dim >= -r && dim < r, op, ": dimension ", dim, " is out of range: a tensor of ", rank,
                      " dimensions expects one of [", -r, ", ", r - 1, "]");
  return dim < 0 ? dim + r : dim;
}

bool same_sizes(DimsView a, DimsView b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

int64_t span_of(DimsView sizes, DimsView strides) {
  SymInt low = 0, high = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    SymInt n = sizes[i].concrete();
    if (n == 0) return 0;
    SymInt reach = (n - 1) * strides[i].concrete();
    (reach < 0 ? low : high) += reach;
  }
  return (high - low + 1).word();
}

std::string to_string(DimsView dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) out += (i ? ", " : "") + to_string(dims[i]);
  return out + "]";
}

}  // namespace fuselet
