// Where every value of a compiled graph lives: in an input, in memory of its own that the caller receives, or at an
// offset of the one arena of a call. Two values of the arena share memory if they are never alive together, and a
// pointwise result takes over the place of an operand that dies there.
#pragma once
#include <vector>

#include "compiler/plan/steps.h"

namespace fuselet::plan {

enum class Place : uint8_t { Nowhere, Input, Output, Arena };

struct Slot {
  Place place = Place::Nowhere;
  int32_t index = -1;  // of the input, or of the outputs' storages
  int64_t offset = 0;  // bytes, in the arena
  int64_t bytes = 0;
};

struct MemoryPlan {
  std::vector<Slot> slots;               // one a value; set for base values that are in memory
  std::vector<ir::ValueId> own_storage;  // base values with memory of their own, by Slot::index
  std::vector<size_t> copied_writes;     // of graph.writes: copied into the input at the end
  int64_t arena_bytes = 0;
  int64_t unshared_bytes = 0;  // what the arena would need if no memory served twice
  int32_t taken_over = 0;      // values that took over an operand's memory
};

MemoryPlan plan_memory(const lower::GraphFacts& facts, const std::vector<lower::LoweredKernel>& kernels,
                       const Order& order);

std::string print(const MemoryPlan& plan, const lower::GraphFacts& facts);

}  // namespace fuselet::plan
