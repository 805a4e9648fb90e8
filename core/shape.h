// Sizes and strides of a tensor (strides in elements), and the arithmetic on them that every shape rule uses.
#pragma once
#include <span>
#include <string>

#include "core/inline_vector.h"
#include "core/sym_int.h"

namespace fuselet {

// Up to six dimensions live inline.
using Dims = InlineVector<SymInt, 6>;
using DimsView = std::span<const SymInt>;

// Error if a size is negative.
void check_sizes(DimsView sizes, const char* op);
SymInt numel_of(DimsView sizes);
// Row-major strides; a dimension of size 0 counts as 1.
Dims contiguous_strides(DimsView sizes);
// True iff the elements lie in row-major order without gaps (sizes of 1 and empty tensors do not matter).
bool is_contiguous(DimsView sizes, DimsView strides);
// True iff the elements fill a stretch of memory without gaps or overlap, in any order of the dimensions.
bool is_dense(DimsView sizes, DimsView strides);
// True iff two elements share a memory cell. Exact for concrete sizes; for symbolic ones, whether a dimension of
// several elements has stride 0.
bool has_overlap(DimsView sizes, DimsView strides);
// Strides of a dense tensor of `sizes` whose dimensions lie in memory in the order that `like` has; contiguous if
// `like` is not dense.
Dims strides_like(DimsView sizes, DimsView like_sizes, DimsView like_strides);
// The common size of two operands, aligned at the last dimension; throws Error naming `op` where they differ.
Dims broadcast_sizes(DimsView a, DimsView b, const char* op);
// Maps a dimension in [-rank, rank) to [0, rank); a 0-d tensor accepts 0 and -1. Throws IndexError naming `op`.
int64_t wrap_dim(int64_t dim, int64_t rank, const char* op);
bool same_sizes(DimsView a, DimsView b);
// Largest minus smallest reachable offset plus one; 0 for an empty tensor.
int64_t span_of(DimsView sizes, DimsView strides);

// "[2, 3]"
std::string to_string(DimsView dims);

// For code that runs on real storage: the words of concrete sizes.
inline const int64_t* concrete_words(DimsView dims) { return reinterpret_cast<const int64_t*>(dims.data()); }

}  // namespace fuselet
