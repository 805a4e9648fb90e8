#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "compiler/report/drawing.h"

extern char** environ;

namespace fuselet::report {
namespace {

constexpr RoleStyle kStyles[] = {
    {Role::Argument, "argument", "#e8eaed", "#80868b"},     {Role::Parameter, "parameter", "#d7dade", "#5f6368"},
    {Role::Tangent, "tangent", "#e9d7fb", "#8430ce"},       {Role::Forward, "forward", "#ffffff", "#3c4043"},
    {Role::Backward, "backward", "#f3e8fd", "#a142f4"},     {Role::Saved, "saved", "#feca8a", "#b06000"},
    {Role::Recomputed, "recomputed", "#aecbfa", "#1967d2"}, {Role::Output, "output", "#ceead6", "#188038"},
};

std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

void write_box(std::ostream& out, const Drawing& d, size_t i, const char* indent) {
  const Box& b = d.boxes[i];
  const RoleStyle& style = style_of(b.role);
  out << indent << "b" << i << " [label=" << quoted(b.note.empty() ? b.label : b.label + "\n" + b.note)
      << ", tooltip=" << quoted(b.tooltip) << ", fillcolor=\"" << style.fill << "\", color=\"" << style.stroke
      << "\"];\n";
}

// Runs `dot -Tsvg -o to from`; false if it is not there or fails.
bool run_dot(const std::string& from, const std::string& to) {
  std::string program = "dot", format = "-Tsvg", flag = "-o", in = from, out = to;
  char* arguments[] = {program.data(), format.data(), flag.data(), out.data(), in.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  int failed = posix_spawnp(&child, "dot", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 1;
  return failed == 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// A folder of its own, removed with what is in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = std::filesystem::temp_directory_path().string() + "/fuselet_dot_XXXXXX";
    if (mkdtemp(pattern.data())) path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  bool exists() const { return !path_.empty(); }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace

std::span<const RoleStyle> role_styles() { return kStyles; }

const RoleStyle& style_of(Role role) { return kStyles[static_cast<size_t>(role)]; }

std::string dot_of(const Drawing& d) {
  std::ostringstream out;
  out << "digraph " << quoted(d.title) << " {\n  label=" << quoted(d.title) << ";\n  labelloc=t;\n"
      << "  node [shape=box, style=filled, fontname=\"Helvetica\", fontsize=10];\n  edge [color=\"#80868b\"];\n";
  for (size_t g = 0; g < d.groups.size(); ++g) {
    out << "  subgraph cluster_" << g << " {\n    label=" << quoted(d.groups[g]) << ";\n    style=rounded;\n";
    for (size_t i = 0; i < d.boxes.size(); ++i) {
      if (d.boxes[i].group == static_cast<int32_t>(g)) write_box(out, d, i, "    ");
    }
    out << "  }\n";
  }
  for (size_t i = 0; i < d.boxes.size(); ++i) {
    if (d.boxes[i].group < 0) write_box(out, d, i, "  ");
  }
  for (const Arrow& a : d.arrows) {
    out << "  b" << a.from << " -> b" << a.to;
    if (a.saved) out << " [color=\"" << style_of(Role::Saved).stroke << "\", penwidth=2]";
    out << ";\n";
  }
  out << "}\n";
  return out.str();
}

std::string svg_by_graphviz(const Drawing& d) {
  ScratchFolder scratch;
  if (!scratch.exists()) return svg_of(d);
  std::string from = scratch.file("graph.dot"), to = scratch.file("graph.svg");
  std::ofstream(from) << dot_of(d);
  if (!run_dot(from, to)) return svg_of(d);
  std::ostringstream text;
  text << std::ifstream(to).rdbuf();
  return text.str();
}

}  // namespace fuselet::report
