// The main of every C++ test program. FUSELET_TEST_FILTER, a comma-separated list of parts of test
// case names, restricts the run as --test-case=*part* does, so one setting reaches every program.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>
#include <sstream>
#include <string>

namespace {

void apply_environment_filter(doctest::Context& context) {
  const char* filter = std::getenv("FUSELET_TEST_FILTER");
  if (filter == nullptr) return;
  std::stringstream parts(filter);
  std::string part;
  while (std::getline(parts, part, ',')) {
    if (!part.empty()) context.addFilter("test-case", ("*" + part + "*").c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  doctest::Context context;
  apply_environment_filter(context);
  context.applyCommandLine(argc, argv);
  return context.run();
}
