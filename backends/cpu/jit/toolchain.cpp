#include "backends/cpu/jit/toolchain.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

extern char** environ;

namespace fuselet::cpu::jit {
namespace {

bool is_program(const std::string& path) {
  struct stat s;
  return stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode) && access(path.c_str(), X_OK) == 0;
}

// Along PATH, unless the name has a slash; empty if it is not there.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (is_program(candidate)) return candidate;
  }
  return "";
}

std::string identify(const std::string& path) {
  char resolved[PATH_MAX];
  const std::string real = realpath(path.c_str(), resolved) ? resolved : path;
  struct stat s;
  if (stat(real.c_str(), &s) != 0) return path;
  std::ostringstream out;
  out << path << ' ' << real << ' ' << s.st_size << ' ' << s.st_mtim.tv_sec << '.' << s.st_mtim.tv_nsec;
  return out.str();
}

}  // namespace

Toolchain find_toolchain() {
  Toolchain t;
  for (const char* variable : {"FUSELET_CXX", "CXX"}) {
    const char* command = std::getenv(variable);
    if (!command || !*command) continue;
    std::string name = command;
    t.path = find_program(name);
    if (t.path.empty()) {
      std::istringstream words(name);
      words >> name;
      t.path = find_program(name);
      for (std::string word; words >> word;) t.words.push_back(word);
    }
    if (t.path.empty()) {
      t.problem = std::string("the C++ compiler that ") + variable + " names, '" + name + "', is not there";
      return t;
    }
    t.identity = identify(t.path);
    for (const std::string& word : t.words) {
      const std::string program = word[0] == '-' ? "" : find_program(word);  // the compiler behind a launcher
      t.identity += "\n" + (program.empty() ? word : identify(program));
    }
    return t;
  }
  for (const char* name : {"c++", "g++", "clang++"}) {
    t.path = find_program(name);
    if (t.path.empty()) continue;
    t.identity = identify(t.path);
    return t;
  }
  t.problem = "no C++ compiler (c++, g++, clang++) along PATH; FUSELET_CXX can name one";
  return t;
}

const std::vector<std::string>& flags() {
  static const std::vector<std::string> kFlags = {"-std=c++20",
                                                  "-O2",
                                                  "-march=native",
                                                  "-ffp-contract=off",
                                                  "-fno-math-errno",
                                                  "-fno-exceptions",
                                                  "-fno-rtti",
                                                  "-fPIC",
                                                  "-shared",
                                                  "-nostartfiles",
                                                  "-w",
                                                  "-fvisibility=hidden",
                                                  "-fno-semantic-interposition",
                                                  "-fno-asynchronous-unwind-tables"};
  return kFlags;
}

const std::string& processor() {
  static const std::string kProcessor = [] {
    std::ifstream info("/proc/cpuinfo");
    std::string model, features;
    for (std::string line; std::getline(info, line);) {
      if (model.empty() && line.compare(0, 10, "model name") == 0) model = line;
      if (line.compare(0, 5, "flags") == 0 || line.compare(0, 8, "Features") == 0) {
        features = line;
        break;
      }
    }
    return model + "\n" + features;
  }();
  return kProcessor;
}

Compilation compile(const Toolchain& toolchain, const std::string& source_path, const std::string& object_path) {
  const auto start = std::chrono::steady_clock::now();
  Compilation result;
  std::vector<std::string> words = {toolchain.path};
  words.insert(words.end(), toolchain.words.begin(), toolchain.words.end());
  words.insert(words.end(), flags().begin(), flags().end());
  words.insert(words.end(), {source_path, "-o", object_path});
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);

  const std::string log = object_path + ".log";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int error = posix_spawn(&child, toolchain.path.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    result.messages = toolchain.path + ": " + std::strerror(error);
    return result;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::ifstream messages(log);
  std::ostringstream text;
  text << messages.rdbuf();
  result.messages = text.str();
  unlink(log.c_str());
  result.succeeded = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!result.succeeded && result.messages.empty()) {
    result.messages = WIFEXITED(status) ? "exit status " + std::to_string(WEXITSTATUS(status))
                                        : "signal " + std::to_string(WTERMSIG(status));
  }
  result.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace fuselet::cpu::jit
