// Nests that share one generated function, and the numbers in which they differ.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "compiler/lower/kernel.h"

namespace fuselet::cpu::codegen {

// A nest with its place in the kernel.
struct PlacedNest {
  const kernel::Nest* nest;
  int first_load_at;             // number of its first LoadAt over all nests
  std::vector<int64_t> scratch;  // byte offset a statement, -1 without
};

// What the text of a nest's function depends on: all but sizes (the length of rows is one), offsets, strides other than
// 0 and 1, buffers, and the numbers of parameters.
std::string shape_of(const kernel::Nest& nest, const kernel::Kernel& kernel);

class NestGroup {
 public:
  explicit NestGroup(std::vector<PlacedNest> nests) : nests_(std::move(nests)) {}

  const std::vector<PlacedNest>& nests() const { return nests_; }
  const kernel::Nest& first() const { return *nests_[0].nest; }
  // As source: the number itself where all nests agree, else the entry of the table `at` that holds it.
  std::string number(const std::function<int64_t(const PlacedNest&)>& of);
  // The value where all nests agree.
  bool agree(const std::function<int64_t(const PlacedNest&)>& of, int64_t* value) const;
  // One row a nest; empty if the nests agree in everything.
  const std::vector<std::vector<int64_t>>& columns() const { return columns_; }

 private:
  std::vector<PlacedNest> nests_;
  std::vector<std::vector<int64_t>> columns_;
};

// The nests of a stage in groups, in the order of their first members.
std::vector<NestGroup> group_nests(const std::vector<PlacedNest>& nests, const kernel::Kernel& kernel);

}  // namespace fuselet::cpu::codegen
