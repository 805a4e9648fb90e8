#include <algorithm>
#include <sstream>

#include "compiler/report/drawing.h"
#include "compiler/report/layered_layout.h"
#include "core/error.h"

namespace fuselet::report {
namespace {

// Units of the drawing: a letter of the font is about 6.2 wide.
constexpr double kLetter = 6.2, kLine = 13, kPadding = 7, kHead = 48;
constexpr const char* kGroupColours[] = {"#1a73e8", "#d93025", "#188038", "#e37400",
                                         "#9334e6", "#007b83", "#c5221f", "#5f6368"};

size_t at(int32_t i) { return static_cast<size_t>(i); }

std::string group_text(const Drawing& d, const Box& b) { return b.group < 0 ? "" : d.groups[at(b.group)]; }

BoxSize size_of_box(const Drawing& d, const Box& b) {
  size_t letters = std::max({b.label.size(), b.note.size(), group_text(d, b).size()});
  int lines = 1 + !b.note.empty() + (b.group >= 0);
  return {static_cast<double>(letters) * kLetter + 2 * kPadding, lines * kLine + kPadding};
}

void write_arrow(std::ostream& out, const Arrow& a, const std::vector<Point>& route) {
  out << "<path d=\"M" << route[0].x << " " << route[0].y;
  for (size_t i = 1; i < route.size(); ++i) {
    double half = (route[i - 1].y + route[i].y) / 2;
    out << " C" << route[i - 1].x << " " << half << " " << route[i].x << " " << half << " " << route[i].x << " "
        << route[i].y;
  }
  out << "\" fill=\"none\" stroke=\"" << (a.saved ? style_of(Role::Saved).stroke : "#9aa0a6") << "\" stroke-width=\""
      << (a.saved ? 2 : 1) << "\" marker-end=\"url(#head)\"/>\n";
}

void write_text(std::ostream& out, double x, double y, const std::string& text, const char* attributes) {
  out << "<text x=\"" << x << "\" y=\"" << y << "\" " << attributes << ">" << escaped_xml(text) << "</text>\n";
}

void write_box(std::ostream& out, const Drawing& d, const Box& b, Point center) {
  BoxSize size = size_of_box(d, b);
  const RoleStyle& style = style_of(b.role);
  double left = center.x - size.width / 2, top = center.y - size.height / 2;
  out << "<g><title>" << escaped_xml(b.tooltip) << "</title>\n<rect x=\"" << left << "\" y=\"" << top << "\" width=\""
      << size.width << "\" height=\"" << size.height << "\" rx=\"3\" fill=\"" << style.fill << "\" stroke=\""
      << style.stroke << "\"/>\n";
  double y = top + kLine;
  write_text(out, center.x, y, b.label, "text-anchor=\"middle\" font-weight=\"bold\"");
  if (!b.note.empty()) write_text(out, center.x, y += kLine, b.note, "text-anchor=\"middle\" fill=\"#5f6368\"");
  if (b.group >= 0) {
    const char* colour = kGroupColours[at(b.group) % std::size(kGroupColours)];
    out << "<rect x=\"" << left << "\" y=\"" << top << "\" width=\"4\" height=\"" << size.height << "\" fill=\""
        << colour << "\"/>\n";
    write_text(out, center.x, y + kLine, group_text(d, b),
               concat("text-anchor=\"middle\" fill=\"", colour, "\"").c_str());
  }
  out << "</g>\n";
}

// The roles that occur.
void write_legend(std::ostream& out, const Drawing& d) {
  double x = 20;
  for (const RoleStyle& style : role_styles()) {
    if (std::none_of(d.boxes.begin(), d.boxes.end(), [&](const Box& b) { return b.role == style.role; })) continue;
    out << "<rect x=\"" << x << "\" y=\"30\" width=\"10\" height=\"10\" fill=\"" << style.fill << "\" stroke=\""
        << style.stroke << "\"/>\n";
    write_text(out, x + 14, 39, style.name, "");
    x += 30 + kLetter * static_cast<double>(std::string(style.name).size());
  }
}

}  // namespace

std::string escaped_xml(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string svg_of(const Drawing& d) {
  std::vector<BoxSize> sizes;
  for (const Box& b : d.boxes) sizes.push_back(size_of_box(d, b));
  std::vector<LayoutArrow> arrows;
  for (const Arrow& a : d.arrows) arrows.push_back({a.from, a.to});
  Layout layout = layered_layout(sizes, arrows);
  double width = std::max(layout.size.width, 560.0), height = layout.size.height + kHead;
  std::ostringstream out;
  out.precision(6);
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\"" << height
      << "\" viewBox=\"0 0 " << width << " " << height
      << "\" font-family=\"Helvetica,Arial,sans-serif\" font-size=\"10\">\n"
      << "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerUnits=\"userSpaceOnUse\" "
         "markerWidth=\"7\" "
      << "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"#5f6368\"/></marker></defs>\n"
      << "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  write_text(out, 20, 20, d.title, "font-size=\"13\" font-weight=\"bold\"");
  write_legend(out, d);
  out << "<g transform=\"translate(0 " << kHead << ")\">\n";
  for (size_t a = 0; a < d.arrows.size(); ++a) write_arrow(out, d.arrows[a], layout.routes[a]);
  for (size_t b = 0; b < d.boxes.size(); ++b) write_box(out, d, d.boxes[b], layout.centers[b]);
  out << "</g>\n</svg>\n";
  return out.str();
}

}  // namespace fuselet::report
