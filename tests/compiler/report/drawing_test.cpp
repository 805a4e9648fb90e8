// Drawings: the roles of a cut, well formed text, and a layout without overlaps.
#include "compiler/report/drawing.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "compiler/report/draw_graph.h"
#include "compiler/report/layered_layout.h"

using namespace fuselet;
using namespace fuselet::report;

namespace {

const char* kJoint =
    "graph \"net<1>\" {\n  input %0: f32[4, 4] argument \"x\"\n  input %1: f32[4, 4] lifted \"w\"\n"
    "  input %2: f32[4, 4] tangent \"0\"\n"
    "  %3: f32[4, 4] = matmul(%0, %1)\n  %4: f32[4, 4] = sin(%3)\n  %5: f32[4, 4] = exp(%4)\n"
    "  %6: f32[4, 4] = mul(%2, %5)\n  %7: f32[4, 4] = cos(%3)\n  %8: f32[4, 4] = mul(%6, %7)\n"
    "  %9: f32[4, 4]{1, 4} = transpose(%0, 0, 1)\n  %10: f32[4, 4] = matmul(%9, %8)\n"
    "  output %5\n  output %10\n}\n";

// Every tag that opens closes, in order.
bool is_balanced_xml(const std::string& text) {
  std::vector<std::string> open;
  for (size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    size_t end = text.find('>', at);
    if (end == std::string::npos) return false;
    std::string tag = text.substr(at + 1, end - at - 1);
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  return open.empty();
}

const Box& box_named(const Drawing& d, const std::string& note_start) {
  for (const Box& b : d.boxes) {
    if (b.note.rfind(note_start, 0) == 0) return b;
  }
  FAIL("no box with the note ", note_start);
  return d.boxes[0];
}

}  // namespace

TEST_CASE("the drawing of a cut shows what is saved, recomputed, and what crosses") {
  ir::Graph joint = ir::parse(kJoint);
  Partition p = partition_min_cut(joint, 1);
  Drawing d = draw_cut(joint, p);
  CHECK(d.title == "net<1>: 64 bytes saved, 2 nodes recomputed");
  CHECK(box_named(d, "%3").role == Role::Saved);
  CHECK(box_named(d, "%4").role == Role::Recomputed);
  CHECK(box_named(d, "%5").role == Role::Recomputed);
  CHECK(box_named(d, "%6").role == Role::Backward);
  CHECK(box_named(d, "%7").role == Role::Backward);
  CHECK(d.boxes[2].role == Role::Tangent);
  CHECK(d.boxes.back().role == Role::Output);
  std::vector<std::pair<int32_t, int32_t>> crossing;
  for (const Arrow& a : d.arrows) {
    if (a.saved) crossing.emplace_back(a.from, a.to);
  }
  CHECK(crossing == std::vector<std::pair<int32_t, int32_t>>{{3, 4}, {3, 7}, {0, 9}});
}

TEST_CASE("Graphviz text and SVG escape what they quote; groups are clusters") {
  ir::Graph joint = ir::parse(kJoint);
  std::vector<KernelGroup> groups = {{"sin \"exp\"", {1, 2}}};
  Drawing d = draw_graph(joint, groups);
  std::string dot = dot_of(d);
  CHECK(dot.find("digraph \"net<1>\"") == 0);
  CHECK(dot.find("subgraph cluster_0 {\n    label=\"sin \\\"exp\\\"\"") != std::string::npos);
  CHECK(dot.find("b3 -> b4") != std::string::npos);
  std::string svg = svg_of(d);
  CHECK(svg.find("net&lt;1&gt;") != std::string::npos);
  CHECK(svg.find("sin &quot;exp&quot;") != std::string::npos);
  CHECK(is_balanced_xml(svg));
  CHECK(svg == svg_of(d));
  std::string any = svg_by_graphviz(d);
  CHECK(any.find("<svg") != std::string::npos);
}

TEST_CASE("an empty graph can be drawn") {
  Drawing d;
  d.title = "nothing";
  CHECK(is_balanced_xml(svg_of(d)));
  CHECK(dot_of(d).find("digraph \"nothing\"") == 0);
}

TEST_CASE("boxes never overlap, and arrows point downwards") {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    size_t n = 2 + random() % 40;
    std::vector<BoxSize> boxes(n);
    for (BoxSize& b : boxes) b = {20.0 + random() % 100, 20};
    std::vector<LayoutArrow> arrows;
    for (size_t i = 0; i < 2 * n; ++i) {
      int32_t to = 1 + static_cast<int32_t>(random() % (n - 1));
      arrows.push_back({static_cast<int32_t>(random() % static_cast<size_t>(to)), to});
    }
    Layout layout = layered_layout(boxes, arrows);
    for (size_t i = 0; i < n; ++i) {
      CHECK(layout.centers[i].x - boxes[i].width / 2 >= 0);
      CHECK(layout.centers[i].x + boxes[i].width / 2 <= layout.size.width);
      for (size_t j = 0; j < i; ++j) {
        bool apart = std::abs(layout.centers[i].x - layout.centers[j].x) >= (boxes[i].width + boxes[j].width) / 2 ||
                     std::abs(layout.centers[i].y - layout.centers[j].y) >= 20;
        CHECK(apart);
      }
    }
    for (const auto& route : layout.routes) {
      for (size_t k = 1; k < route.size(); ++k) CHECK(route[k].y > route[k - 1].y);
    }
  }
}
