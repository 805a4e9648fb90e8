#include "backends/codegen/prelude_text.h"

#include <cstring>

#include "core/error.h"

namespace fuselet::codegen {

const PreludeFormula& prelude_formula(const char* name) {
  for (const PreludeFormula* f = kPreludeFormulas; f->name; ++f) {
    if (std::strcmp(f->name, name) == 0) return *f;
  }
  throw InternalError(concat("no pasted header defines the formula '", name, "'"), __FILE__, __LINE__);
}

std::string prelude_text(const std::set<std::string>& files) {
  std::vector<bool> wanted(static_cast<size_t>(kNumPreludeFiles));
  std::string text;
  for (int i = kNumPreludeFiles; i-- > 0;) {
    const size_t at = static_cast<size_t>(i);
    wanted[at] = wanted[at] || files.count(kPreludeFiles[i].name);
    if (!wanted[at]) continue;
    for (int needed : kPreludeFiles[i].needs) wanted[static_cast<size_t>(needed)] = true;
  }
  for (int i = 0; i < kNumPreludeFiles; ++i) {
    if (wanted[static_cast<size_t>(i)]) text += kPreludeFiles[i].text;
  }
  return text;
}

}  // namespace fuselet::codegen
