// A drawing of boxes and arrows, and its two forms: Graphviz text and SVG. Draw_graph.h makes drawings of graphs.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fuselet::report {

// What a box stands for; says its colour.
enum class Role : uint8_t { Argument, Parameter, Tangent, Forward, Backward, Saved, Recomputed, Output };

struct RoleStyle {
  Role role;
  const char* name;  // in the legend
  const char* fill;
  const char* stroke;
};
std::span<const RoleStyle> role_styles();
const RoleStyle& style_of(Role role);

struct Box {
  std::string label, note;  // two lines
  std::string tooltip;
  Role role = Role::Forward;
  int32_t group = -1;
};
struct Arrow {
  int32_t from, to;    // boxes; from < to
  bool saved = false;  // a saved value that the backward reads
};
struct Drawing {
  std::string title;
  std::vector<Box> boxes;
  std::vector<Arrow> arrows;
  std::vector<std::string> groups;
};

// Graphviz text; groups are clusters.
std::string dot_of(const Drawing& drawing);

// An SVG by our own layered layout, the same on every machine; boxes of a group share a coloured edge and its name.
std::string svg_of(const Drawing& drawing);

// An SVG by the program `dot` where it is installed, else svg_of.
std::string svg_by_graphviz(const Drawing& drawing);

// Text between tags and in attributes.
std::string escaped_xml(const std::string& text);

}  // namespace fuselet::report
