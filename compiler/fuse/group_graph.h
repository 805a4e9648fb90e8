// The graph of groups while they merge: who makes and who reads each value, and whether two groups may become one.
#pragma once
#include <span>
#include <vector>

#include "compiler/lower/nest_builder.h"

namespace fuselet::fuse {

class GroupGraph {
 public:
  explicit GroupGraph(const lower::GraphFacts& facts);

  // Groups that are left, by number of their first node; a view belongs to none.
  std::vector<int32_t> live() const;
  const std::vector<int32_t>& nodes(int32_t group) const { return members_[static_cast<size_t>(group)]; }
  int32_t group_of(int32_t node) const { return group_of_[static_cast<size_t>(node)]; }
  bool is_call(int32_t group) const { return facts_.is_call[static_cast<size_t>(group)]; }

  // Bases that the nodes read from memory, each once; and those of their results that must be stored.
  std::vector<ir::ValueId> reads(std::span<const int32_t> nodes) const;
  std::vector<ir::ValueId> stored(std::span<const int32_t> nodes) const;
  int64_t bytes_of(ir::ValueId base) const;

  // True iff a third group would have to run after one of them and before the other.
  bool is_separated(int32_t a, int32_t b) const;
  // True iff b has to run after a.
  bool depends(int32_t b, int32_t a) const;
  // The union keeps a's number.
  void merge(int32_t a, int32_t b);

 private:
  bool reaches(int32_t from, int32_t to, bool direct_counts) const;

  const lower::GraphFacts& facts_;
  std::vector<std::vector<int32_t>> base_readers_;  // of each base: nodes that read it or a view of it
  std::vector<int32_t> group_of_;
  std::vector<std::vector<int32_t>> members_;
  std::vector<std::vector<int32_t>> successors_;  // of each node, nodes that read its results from memory
};

}  // namespace fuselet::fuse
