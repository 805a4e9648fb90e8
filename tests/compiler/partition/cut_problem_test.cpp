// What is saved and recomputed, against every choice there is.
#include "compiler/partition/cut_problem.h"

#include <doctest/doctest.h>

#include <random>

using namespace fuselet::partition;

namespace {

struct Tried {
  int64_t bytes, cost;
};

// Every set of nodes that may be recomputed, by the definition: a needed value is saved or its node recomputed, and who
// recomputes needs the operands.
std::vector<Tried> all_choices(const CutProblem& p) {
  std::vector<Tried> out;
  for (uint32_t set = 0; set < (1u << p.nodes.size()); ++set) {
    bool legal = true;
    Tried t{0, 0};
    std::vector<bool> reads(p.values.size());
    for (size_t v = 0; v < reads.size(); ++v) reads[v] = p.values[v].needed;
    for (size_t n = 0; n < p.nodes.size(); ++n) {
      if (!(set >> n & 1)) continue;
      legal = legal && p.nodes[n].may_recompute;
      t.cost += p.nodes[n].cost;
      for (int32_t v : p.nodes[n].operands) reads[static_cast<size_t>(v)] = true;
    }
    for (size_t v = 0; v < reads.size(); ++v) {
      int32_t node = p.values[v].node;
      if (!reads[v] || (node >= 0 && (set >> node & 1))) continue;
      legal = legal && p.values[v].may_save;
      t.bytes += p.values[v].bytes;
    }
    if (legal) out.push_back(t);
  }
  return out;
}

// Up to 12 nodes of one or two outputs.
CutProblem random_problem(std::mt19937& random) {
  auto below = [&](size_t n) { return static_cast<int32_t>(random() % n); };
  CutProblem p;
  int32_t inputs = 1 + below(2);
  for (int32_t i = 0; i < inputs; ++i) p.values.push_back({below(3) == 0 ? below(9) : 0, true, below(4) == 0, -1});
  int32_t nodes = 1 + below(12);
  for (int32_t n = 0; n < nodes; ++n) {
    CutProblem::Node node;
    int32_t operands = below(4);
    for (int32_t k = 0; k < operands; ++k) node.operands.push_back(below(p.values.size()));
    node.may_recompute = below(4) > 0;
    node.cost = below(8);
    int32_t outputs = 1 + below(2);
    for (int32_t k = 0; k < outputs; ++k) {
      node.outputs.push_back(static_cast<int32_t>(p.values.size()));
      p.values.push_back({below(9), !node.may_recompute || below(5) > 0, below(3) == 0, n});
    }
    p.nodes.push_back(std::move(node));
  }
  return p;
}

// The last choice that keeps within the budget.
const CutChoice* within(const std::vector<CutChoice>& choices, int64_t budget) {
  const CutChoice* found = nullptr;
  for (const CutChoice& c : choices) {
    if (c.bytes <= budget) found = &c;
  }
  return found;
}

}  // namespace

TEST_CASE("fewest bytes, and of these the least recomputing, on 1,000 random problems of up to 12 nodes") {
  std::mt19937 random(11);
  for (int round = 0; round < 1000; ++round) {
    CutProblem p = random_problem(random);
    Tried best{INT64_MAX, 0};
    for (const Tried& t : all_choices(p)) {
      if (t.bytes < best.bytes || (t.bytes == best.bytes && t.cost < best.cost)) best = t;
    }
    CutChoice c = fewest_bytes(p);
    REQUIRE(c.bytes == best.bytes);
    REQUIRE(c.cost == best.cost);
  }
}

TEST_CASE("the frontier has an answer wherever there is one, and costs little more than the best") {
  std::mt19937 random(13);
  double excess = 0;
  int answers = 0;
  for (int round = 0; round < 300; ++round) {
    CutProblem p = random_problem(random);
    std::vector<Tried> all = all_choices(p);
    std::vector<CutChoice> choices = frontier(p);
    for (size_t i = 1; i < choices.size(); ++i) {
      REQUIRE(choices[i].bytes > choices[i - 1].bytes);
      REQUIRE(choices[i].cost < choices[i - 1].cost);
    }
    for (int64_t budget = 0; budget <= 40; budget += 2) {
      int64_t least = INT64_MAX;
      for (const Tried& t : all) {
        if (t.bytes <= budget) least = std::min(least, t.cost);
      }
      const CutChoice* c = within(choices, budget);
      REQUIRE((c != nullptr) == (least < INT64_MAX));
      if (!c) continue;
      REQUIRE(c->cost >= least);
      excess += static_cast<double>(c->cost - least);
      ++answers;
    }
  }
  // A tenth of a unit where a node costs up to 7: between corners of the hull the exact answer is a knapsack's.
  CHECK(excess / answers < 0.1);
}

TEST_CASE("a budget is spent on what spares most") {
  // Two values of 4 bytes, recomputed at 10 and 7, and an input that is free.
  CutProblem p;
  p.values = {{0, true, false, -1}, {4, true, true, 0}, {4, true, true, 1}};
  p.nodes = {{{0}, {1}, true, 10}, {{0}, {2}, true, 7}};
  std::vector<CutChoice> choices = frontier(p);
  auto cost = [&](int64_t budget) { return within(choices, budget)->cost; };
  CHECK(cost(0) == 17);
  CHECK(cost(3) == 17);
  CHECK(cost(4) == 7);
  CHECK(cost(7) == 7);
  CHECK(cost(8) == 0);
}
