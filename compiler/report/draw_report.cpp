#include "compiler/report/draw_report.h"

#include "compiler/report/draw_graph.h"
#include "core/error.h"

namespace fuselet::report {

Drawing draw_report(const CompileReport& report, const std::string& what) {
  if (what == "cut") {
    FUSELET_CHECK(report.cut, "report: nothing was cut: no backward comes later than the compiled call");
    return draw_cut(*report.joint, *report.cut);
  }
  FUSELET_CHECK(what == "graph" || what == "groups", "report: expected a drawing of 'graph', 'groups' or 'cut', got '",
                what, "'");
  FUSELET_CHECK(report.drawn, "report: nothing has been compiled yet");
  return what == "graph" ? draw_graph(*report.drawn) : draw_graph(*report.drawn, report.groups);
}

}  // namespace fuselet::report
