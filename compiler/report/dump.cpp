#include "compiler/report/dump.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.h"

namespace fuselet::report {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string as_file_name(std::string name) {
  for (char& c : name) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    if (!plain) c = '_';
  }
  return name;
}

void write_file(const std::string& folder, const std::string& graph, const StageReport& stage) {
  static std::atomic<int> next{0};
  char number[16];
  std::snprintf(number, sizeof number, "%04d", next.fetch_add(1));
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  std::string path = concat(folder, "/", number, "_", as_file_name(stage.name), "_", as_file_name(graph), ".txt");
  std::ofstream file(path);
  file << stage.text;
  file.close();
  FUSELET_CHECK(file.good(), "FUSELET_DUMP_DIR: '", path, "' cannot be written");
}

}  // namespace

bool dump_wants(const std::string& stage) {
  std::string names = environment("FUSELET_DUMP");
  for (size_t at = 0; at < names.size();) {
    size_t end = std::min(names.find(',', at), names.size());
    std::string name = names.substr(at, end - at);
    if (name == stage || name == "all") return true;
    at = end + 1;
  }
  return false;
}

void leave_stage(CompileReport* report, const std::string& graph, const std::string& stage, double milliseconds,
                 const std::function<std::string()>& text) {
  bool dumped = dump_wants(stage);
  if (!report && !dumped) return;
  StageReport value{stage, text(), milliseconds};
  if (dumped) {
    std::string folder = environment("FUSELET_DUMP_DIR");
    if (folder.empty()) {
      std::fprintf(stderr, "[%s] %s, %.3f ms\n%s", stage.c_str(), graph.c_str(), milliseconds, value.text.c_str());
    } else {
      write_file(folder, graph, value);
    }
  }
  if (report) report->stages.push_back(std::move(value));
}

}  // namespace fuselet::report
