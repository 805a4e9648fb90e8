#include "backends/cuda/memory/allocator_options.h"

#include <bit>
#include <charconv>
#include <cstdlib>
#include <string>

#include "core/error.h"

namespace fuselet::cuda {
namespace {

constexpr const char* kVariable = "FUSELET_CUDA_ALLOC_CONF";
constexpr size_t kMiB = size_t{1} << 20;
// Below it a limit on splitting would touch the segments of ordinary requests.
constexpr size_t kSmallestSplitLimit = 20;              // MiB
constexpr size_t kLargestSplitLimit = size_t{1} << 24;  // MiB: 16 TiB

std::string_view trimmed(std::string_view s) {
  const size_t first = s.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(" \t") + 1 - first);
}

template <class T>
bool read_number(std::string_view s, T& value) {
  auto [end, failed] = std::from_chars(s.data(), s.data() + s.size(), value);
  return failed == std::errc() && end == s.data() + s.size();
}

void set_option(AllocatorOptions& options, std::string_view name, std::string_view value) {
  auto expect = [&](bool good, const char* what) {
    FUSELET_CHECK(good, kVariable, ": ", name, ":", value, ": expected ", what);
  };
  if (name == "max_split_size_mb") {
    size_t mib = 0;
    expect(read_number(value, mib) && mib > kSmallestSplitLimit && mib <= kLargestSplitLimit,
           "a whole number of MiB above 20");
    options.max_split_size = mib * kMiB;
  } else if (name == "roundup_power2_divisions") {
    size_t divisions = 0;
    expect(read_number(value, divisions) && std::has_single_bit(divisions) && divisions <= 64,
           "a power of two from 1 to 64");
    options.roundup_power2_divisions = divisions;
  } else if (name == "garbage_collection_threshold") {
    double part = 0;
    expect(read_number(value, part) && part > 0 && part < 1, "a number between 0 and 1, both excluded");
    options.garbage_collection_threshold = part;
  } else {
    fail(kVariable, ": unknown option '", name,
         "': expected max_split_size_mb, roundup_power2_divisions or garbage_collection_threshold");
  }
}

}  // namespace

AllocatorOptions parse_allocator_options(std::string_view text) {
  AllocatorOptions options;
  while (!trimmed(text).empty()) {
    const size_t comma = text.find(',');
    const std::string_view entry = trimmed(text.substr(0, comma));
    const size_t colon = entry.find(':');
    FUSELET_CHECK(colon != std::string_view::npos, kVariable, ": '", entry,
                  "': expected name:value, with commas between");
    set_option(options, trimmed(entry.substr(0, colon)), trimmed(entry.substr(colon + 1)));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return options;
}

AllocatorOptions allocator_options_of_environment() {
  const char* text = std::getenv(kVariable);
  return parse_allocator_options(text ? text : "");
}

}  // namespace fuselet::cuda
