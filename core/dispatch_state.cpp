#include "core/dispatch_state.h"

#include <atomic>
#include <string_view>

namespace fuselet {
namespace detail {

thread_local constinit DispatchState t_dispatch_state;

}  // namespace detail

namespace {

std::atomic<LineHook> g_line_hook{nullptr};

}  // namespace

void set_line_hook(LineHook hook) { g_line_hook = hook; }

std::string current_line() {
  if (LineHook hook = g_line_hook.load()) {
    if (std::string line = hook(); !line.empty()) return line;
  }
  const Location* line = dispatch_state().line;
  if (!line) return "";
  std::string_view file = line->file_name();
  file.remove_prefix(file.rfind('/') + 1);
  return std::string(file) + ":" + std::to_string(line->line());
}

}  // namespace fuselet
