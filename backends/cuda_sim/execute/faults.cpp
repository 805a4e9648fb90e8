// Reports of a launch: where the running thread is, and what follows.
#include <algorithm>
#include <vector>

#include "backends/cuda_sim/execute/block.h"
#include "backends/cuda_sim/module/module.h"
#include "backends/cuda_sim/report/report.h"
#include "backends/cuda_sim/report/source_line.h"

namespace fuselet::cuda::sim {

namespace {

constexpr int kMostFindings = 8;  // a launch; more of them say little
// The places that this launch's findings have named.
std::vector<std::pair<const void*, char>> reported;

}  // namespace

std::string line_of(const void* pc) {
  size_t offset = reinterpret_cast<uintptr_t>(pc) - g_block.module_begin;
  return offset < g_block.module_bytes ? source_line(g_block.module->path(), offset) : "an unknown line";
}

std::string place_of(const void* pc, const Thread* thread) {
  std::string text = " at " + line_of(pc) + " in kernel " + g_block.function->name +
                     format(", block (%u,%u,%u)", g_block.index.x, g_block.index.y, g_block.index.z);
  if (thread) text += format(", thread (%u,%u,%u)", thread->index.x, thread->index.y, thread->index.z);
  return text;
}

void fault(int error, const std::string& text, const void* pc) {
  report(text + place_of(pc, g_block.current), error);
  abandon_launch();
}

void finding(const std::string& text, const void* pc) {
  if (g_block.findings == 0) reported.clear();
  std::pair<const void*, char> place{pc, text[0]};
  if (g_block.findings >= kMostFindings || std::find(reported.begin(), reported.end(), place) != reported.end()) return;
  reported.push_back(place);
  ++g_block.findings;
  report_finding(text + place_of(pc, g_block.current));
}

}  // namespace fuselet::cuda::sim
