#include "backends/cuda_sim/compile/compile_object.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sstream>

#include "backends/cuda_sim/compile/scan_source.h"
#include "backends/cuda_sim/compile/shim_text.h"
#include "backends/cuda_sim/compile/work_folder.h"
#include "backends/cuda_sim/execute/hook_names.h"
#include "backends/cuda_sim/settings.h"

extern char** environ;

namespace fuselet::cuda::sim {

namespace {

std::vector<std::string> flags_of_this_process() {
  std::vector<std::string> flags = {"-std=c++17", "-O1", "-shared", "-fPIC", "-pipe", "-w", "-nostdlib",
                                    // Kernels are found by name; everything else binds within the object.
                                    "-fvisibility=hidden", "-fno-gnu-unique",
                                    // Numerics as in the rest of the project.
                                    "-ffp-contract=off", "-fno-math-errno",
                                    // Kernels cast pointers freely, and throw nothing.
                                    "-fno-strict-aliasing", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics",
                                    // __shared__ arrays are plain thread-local storage.
                                    "-fno-extern-tls-init",
                                    // A large array must not step over the page that guards a stack.
                                    "-fstack-clash-protection", "-g1", "-gdwarf-4"};
  if (settings().checked) {
    for (const char* flag : {"-fsanitize=thread,bounds,alignment,shift-exponent,integer-divide-by-zero",
                             "-fsanitize-coverage=trace-pc", "--param=tsan-instrument-func-entry-exit=0"})
      flags.emplace_back(flag);
    std::string wrap = "-Wl";
#define FUSELET_SIM_WRAP(name) wrap += ",--wrap=" #name;
    FUSELET_SIM_HOOKS(FUSELET_SIM_WRAP)
    flags.push_back(wrap);
  }
  return flags;
}

// FUSELET_CXX, else CXX unless it is clang (whose instrumentation differs), else g++; split into words.
std::vector<std::string> compiler() {
  const char* text = std::getenv("FUSELET_CXX");
  if (text == nullptr || *text == '\0') {
    text = std::getenv("CXX");
    if (text == nullptr || *text == '\0' || std::strstr(text, "clang")) text = "g++";
  }
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string this_library() {
  Dl_info info;
  return dladdr(reinterpret_cast<void*>(&compile_object), &info) ? info.dli_fname : "";
}

// Runs it in `folder` with everything it prints in folder/log; true if it exits with 0.
bool run_in(const std::string& folder, const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, 1, (folder + "/log").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child;
  int status = 1;
  int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) {
    std::string text = command[0] + ": " + std::strerror(failed) + "\n";
    write_file(folder + "/log", text.data(), text.size());
    return false;
  }
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The shim lies in the work folder from the first compilation on.
const std::string& shim_path() {
  static const std::string path = [] {
    std::string file = work_folder() + "/" + kShimFile;
    write_file(file, kShimText, std::strlen(kShimText));
    return file;
  }();
  return path;
}

// Any name that a file may have.
std::string file_name(const std::string& name) {
  std::string file = name.substr(name.rfind('/') + 1);
  for (char& c : file)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-' && c != '.') c = '_';
  return file.empty() || file[0] == '-' || file[0] == '.' ? "kernel.cu" : file;
}

}  // namespace

const std::vector<std::string>& compile_flags() {
  static const std::vector<std::string> flags = flags_of_this_process();
  return flags;
}

CompiledObject compile_object(const std::string& source, const std::string& name,
                              const std::vector<std::string>& definitions) {
  if (work_folder().empty()) return {false, "", "no folder for temporary files can be made in TMPDIR\n"};
  static std::atomic<unsigned> number{0};
  std::string folder = work_folder() + "/" + std::to_string(number++);
  mkdir(folder.c_str(), 0700);
  std::string file = file_name(name), text = source + end_of_source(source);
  write_file(folder + "/" + file, text.data(), text.size());

  std::vector<std::string> command = compiler();
  command.insert(command.end(), compile_flags().begin(), compile_flags().end());
  command.insert(command.end(), definitions.begin(), definitions.end());
  // The object is the same whatever the folder; its parts of the command line are not written down.
  command.push_back("-gno-record-gcc-switches");
  command.push_back("-fdebug-prefix-map=" + folder + "=.");
  command.push_back("-fdebug-prefix-map=" + work_folder() + "=.");
  for (const std::string& word : {std::string("-include"), shim_path(), std::string("-x"), std::string("c++"), file,
                                  std::string("-x"), std::string("none"), this_library(), std::string("-o"),
                                  std::string("object.so"), std::string("-lm"), std::string("-lc")})
    command.push_back(word);
  CompiledObject result;
  result.succeeded = run_in(folder, command) && read_file(folder + "/object.so", result.object);
  read_file(folder + "/log", result.log);
  for (const char* remains : {"/object.so", "/log"}) unlink((folder + remains).c_str());
  unlink((folder + "/" + file).c_str());
  rmdir(folder.c_str());
  return result;
}

}  // namespace fuselet::cuda::sim
