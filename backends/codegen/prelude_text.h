// The headers that generated units paste, as text: embed_prelude.py writes the tables at build time.
#pragma once
#include <set>
#include <string>
#include <vector>

namespace fuselet::codegen {

struct PreludeFile {
  const char* name;
  const char* text;  // without comments and includes
  std::vector<int> needs;
};
// After what they need.
extern const PreludeFile kPreludeFiles[];
extern const int kNumPreludeFiles;

struct PreludeFormula {
  const char* name;  // nullptr ends the table
  int file;
  bool dear;  // worth keeping rather than working out again
};
extern const PreludeFormula kPreludeFormulas[];

// InternalError if no pasted header defines it.
const PreludeFormula& prelude_formula(const char* name);

// The text of the named files and of all that they need.
std::string prelude_text(const std::set<std::string>& files);

}  // namespace fuselet::codegen
