#include "backends/cuda_sim/compile/scan_source.h"

#include <cctype>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

namespace fuselet::cuda::sim {

namespace {

// Words and single characters; comments, literals and preprocessor lines are left out.
std::vector<std::string> tokens_of(const std::string& source) {
  std::vector<std::string> tokens;
  bool line_is_empty = true;
  for (size_t i = 0; i < source.size();) {
    char c = source[i];
    if (source.compare(i, 2, "//") == 0 || (c == '#' && line_is_empty)) {
      while (i < source.size() && source[i] != '\n') i += source[i] == '\\' ? 2 : 1;
    } else if (source.compare(i, 2, "/*") == 0) {
      size_t end = source.find("*/", i + 2);
      i = end == std::string::npos ? source.size() : end + 2;
    } else if (c == '"' || c == '\'') {
      // A quote between digits separates them.
      bool separator = c == '\'' && i > 0 && std::isxdigit(static_cast<unsigned char>(source[i - 1]));
      ++i;
      while (!separator && i < source.size() && source[i] != c) i += source[i] == '\\' ? 2 : 1;
      if (!separator) ++i;
      if (!separator && c == '"') tokens.push_back("\"\"");
    } else if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      size_t begin = i;
      while (i < source.size() && (std::isalnum(static_cast<unsigned char>(source[i])) || source[i] == '_')) ++i;
      tokens.push_back(source.substr(begin, i - begin));
    } else {
      if (!std::isspace(static_cast<unsigned char>(c))) tokens.emplace_back(1, c);
      ++i;
    }
    if (i > 0 && i <= source.size()) {
      if (source[i - 1] == '\n' || (i < source.size() && source[i] == '\n'))
        line_is_empty = true;
      else if (!std::isspace(static_cast<unsigned char>(source[i - 1])))
        line_is_empty = false;
    }
  }
  return tokens;
}

size_t past_parentheses(const std::vector<std::string>& tokens, size_t i) {
  int depth = 0;
  do {
    if (tokens[i] == "(") ++depth;
    if (tokens[i] == ")") --depth;
    ++i;
  } while (i < tokens.size() && depth > 0);
  return i;
}

bool is_template(const std::vector<std::string>& tokens, size_t global) {
  for (size_t i = global; i-- > 0;) {
    if (tokens[i] == ";" || tokens[i] == "}" || tokens[i] == "{") return false;
    if (tokens[i] == "template") return true;
  }
  return false;
}

struct Kernel {
  std::string name;
  int max_threads = 0;
};

// tokens[i] is __global__.
Kernel kernel_at(const std::vector<std::string>& tokens, size_t i) {
  Kernel kernel;
  std::string last;
  for (++i; i < tokens.size();) {
    const std::string& token = tokens[i];
    if (token == "(" && !last.empty()) {
      kernel.name = last;
      return kernel;
    }
    if (token == ";" || token == "{") break;
    if (token == "__launch_bounds__" || token == "__attribute__" || token == "__cluster_dims__") {
      if (token == "__launch_bounds__" && i + 2 < tokens.size()) kernel.max_threads = std::atoi(tokens[i + 2].c_str());
      if (++i < tokens.size() && tokens[i] == "(") i = past_parentheses(tokens, i);
      last.clear();
      continue;
    }
    last = token;
    ++i;
  }
  return {};
}

// tokens[i] is extern: the array's name, or nothing.
std::string dynamic_array_at(const std::vector<std::string>& tokens, size_t i) {
  bool shared = false;
  for (++i; i < tokens.size() && tokens[i] != ";" && tokens[i] != "{"; ++i) {
    shared |= tokens[i] == "__shared__";
    if (tokens[i] == "[") return shared ? tokens[i - 1] : "";
  }
  return "";
}

}  // namespace

std::string end_of_source(const std::string& source) {
  std::vector<std::string> tokens = tokens_of(source);
  std::set<std::string> arrays, names;
  std::string table;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] == "__global__" && !is_template(tokens, i)) {
      Kernel kernel = kernel_at(tokens, i);
      if (!kernel.name.empty() && names.insert(kernel.name).second)
        table += "SIM_KERNEL(" + kernel.name + ", " + std::to_string(kernel.max_threads) + "),\n";
    } else if (tokens[i] == "extern") {
      std::string array = dynamic_array_at(tokens, i);
      if (!array.empty()) arrays.insert(array);
    }
  }
  // The label, not the name, is that of the source's declarations, whose type may be any.
  std::string text = "\n#line 1 \"fuselet_sim_end\"\n", addresses;
  int number = 0;
  for (const std::string& array : arrays) {
    std::string storage = "sim_dynamic_" + std::to_string(number++);
    text += "__attribute__((aligned(128))) __shared__ char " + storage + "[" + std::to_string(kMaxSharedBytes) +
            "] asm(\"" + array + "\");\n";
    addresses += "case " + std::to_string(number - 1) + ": return " + storage + ";\n";
  }
  text +=
      "extern \"C\" __global__ __attribute__((no_sanitize_coverage)) char* sim_dynamic_array(int i) { switch (i) { " +
      addresses + "default: return nullptr; } }\n";
  text += "extern \"C\" { extern __global__ const SimKernelEntry sim_kernels[] = {\n" + table + "{}}; }\n";
  return text;
}

}  // namespace fuselet::cuda::sim
