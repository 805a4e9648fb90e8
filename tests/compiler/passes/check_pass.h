// One pass on a small graph: text in, text out.
#pragma once
#include <doctest/doctest.h>

#include <string>

#include "compiler/ir/graph.h"

namespace fuselet::testing {

// A graph of input %0: f32[4] and the lines of `body`.
inline std::string graph_of(const std::string& body) {
  return "graph \"g\" {\n  input %0: f32[4] argument \"0\"\n" + body + "}\n";
}

// The body after the pass; verified before and after. The pass must say truly whether it changed something, and have
// nothing to do a second time.
inline void check_pass(bool (*pass)(ir::Graph&), const std::string& body, const std::string& expected) {
  ir::Graph g = ir::parse(graph_of(body));
  ir::verify(g);
  bool changed = pass(g);
  ir::verify(g);
  CHECK(ir::print(g) == graph_of(expected));
  CHECK(changed == (body != expected));
  CHECK_FALSE(pass(g));
}

inline void check_left_alone(bool (*pass)(ir::Graph&), const std::string& body) { check_pass(pass, body, body); }

}  // namespace fuselet::testing
