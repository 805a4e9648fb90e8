// The system's C++ compiler: where it is, what identifies it without running it, and one compilation.
#pragma once
#include <string>
#include <vector>

namespace fuselet::cpu::jit {

struct Toolchain {
  std::string path;                // empty: there is none
  std::vector<std::string> words;  // that follow it: what CXX="ccache g++ -m64" has behind the program
  std::string problem;             // then why
  std::string identity;            // path, size and time of change of the programs, and the words
};

// FUSELET_CXX, else CXX, else c++, g++ or clang++ along PATH. Looked up anew in each call.
Toolchain find_toolchain();

// What every unit is compiled with.
const std::vector<std::string>& flags();
// The processor's features, for -march=native stands for them.
const std::string& processor();

struct Compilation {
  bool succeeded = false;
  std::string messages;  // what the compiler wrote, or why it did not run
  double milliseconds = 0;
};

// Compiles the source file into a shared object.
Compilation compile(const Toolchain& toolchain, const std::string& source_path, const std::string& object_path);

}  // namespace fuselet::cpu::jit
