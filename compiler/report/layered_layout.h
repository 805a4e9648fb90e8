// Places boxes of a directed graph in layers from top to bottom (after Sugiyama, Tagawa and Toda): a box stands below
// everything that points at it; the order within a layer follows the averages of the neighbours; places follow by least
// squares under that order, one box at a time its own width apart. Long arrows run through points of their own in the
// layers between.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace fuselet::report {

struct Point {
  double x = 0, y = 0;
};
struct BoxSize {
  double width = 0, height = 0;
};
struct LayoutArrow {
  int32_t from, to;
};

struct Layout {
  std::vector<Point> centers;              // of the boxes
  std::vector<std::vector<Point>> routes;  // of the arrows, from the lower edge of one box to the upper of the other
  BoxSize size;
};

// Arrows must not form a cycle, and lead from lower to higher numbers.
Layout layered_layout(std::span<const BoxSize> boxes, std::span<const LayoutArrow> arrows);

}  // namespace fuselet::report
