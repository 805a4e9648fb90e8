// The order in which reductions combine on CUDA: a function of the extent alone, so that eager and compiled kernels of
// one device agree bit for bit, whatever they are fused with.
//
// Along the innermost axis, n elements:
//   1. chunks of kDeviceChunk elements;
//   2. a chunk of m elements has row_positions(m) positions, P: position p starts at the identity and combines elements
//      p, p + P, p + 2 P, … in turn;
//   3. positions are combined as a binary tree: p with p + 1, then p with p + 2, p with p + 4, …;
//   4. chunk results are combined as partial results, below.
// Along another axis, l rows, for each column alone: leaves of column_leaf(l) rows, each combined in turn from the
// identity; then leaf results as partial results.
// Partial results: kPartialPositions positions as in 2, and 3.
// A thread owns neighbouring positions (4 of them, 8 for 16-bit rows): their combination comes first and needs no other
// thread; then lanes of a warp, then warps.
#pragma once

#include "core/formulas/vectors.h"

namespace fuselet {

inline constexpr long kDeviceChunk = 1 << 16;   // elements; longer rows are worth several blocks
inline constexpr long kMostPositions = 4096;    // four for each of the 1024 threads that a block may have
inline constexpr long kElementsOfPosition = 4;  // loads in flight of a thread
inline constexpr int kPartialPositions = 16;
inline constexpr long kMostLeaves = 256;  // two blocks for each of about 132 multiprocessors
inline constexpr long kSmallestLeaf = 4;  // rows: partial sums stay a quarter of what is read

// A power of two from 4 to kMostPositions.
FUSELET_FN constexpr long row_positions(long n) {
  long positions = 4;
  while (positions < kMostPositions && positions * kElementsOfPosition < n) positions *= 2;
  return positions;
}
FUSELET_FN constexpr long device_chunks(long n) { return (n + kDeviceChunk - 1) / kDeviceChunk; }
FUSELET_FN constexpr long column_leaf(long rows) {
  const long leaf = (rows + kMostLeaves - 1) / kMostLeaves;
  return leaf < kSmallestLeaf ? kSmallestLeaf : leaf;
}
FUSELET_FN constexpr long column_leaves(long rows) { return (rows + column_leaf(rows) - 1) / column_leaf(rows); }

}  // namespace fuselet
