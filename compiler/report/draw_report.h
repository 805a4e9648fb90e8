// Drawings of what a compilation left, as SVG or as Graphviz text.
#pragma once
#include <string>

#include "compiler/report/drawing.h"
#include "compiler/report/report.h"

namespace fuselet::report {

// "graph": the primitives; "groups": the same with the nodes of a kernel in one frame; "cut": the joint graph with what
// is saved and what is recomputed. Error for another name, or where the compilation has no such thing.
Drawing draw_report(const CompileReport& report, const std::string& what);

}  // namespace fuselet::report
