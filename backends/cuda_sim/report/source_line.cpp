#include "backends/cuda_sim/report/source_line.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>
#include <vector>

#include "backends/cuda_sim/compile/shim_text.h"
#include "backends/cuda_sim/report/report.h"

extern char** environ;

namespace fuselet::cuda::sim {

std::string output_of(const std::string& program, const std::initializer_list<std::string>& arguments) {
  int ends[2];
  if (pipe(ends) != 0) return "";
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
  pid_t child;
  int failed = posix_spawnp(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  if (!failed) {
    char buffer[4096];
    for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, n);
    waitpid(child, nullptr, 0);
  }
  close(ends[0]);
  return text;
}

std::string source_line(const std::string& object_path, size_t offset) {
  // The instruction before the return address.
  std::istringstream frames(output_of("addr2line", {"-i", "-e", object_path, format("0x%zx", offset - 1)}));
  std::string frame, best;
  while (std::getline(frames, frame)) {
    frame = frame.substr(0, frame.find(" ("));  // " (discriminator 2)"
    frame = frame.substr(frame.rfind('/') + 1);
    if (frame.starts_with("?")) continue;
    best = frame;
    if (!frame.starts_with(kShimFile)) break;
  }
  if (!best.empty()) return best;
  return format("%s+0x%zx", object_path.substr(object_path.rfind('/') + 1).c_str(), offset);
}

}  // namespace fuselet::cuda::sim
