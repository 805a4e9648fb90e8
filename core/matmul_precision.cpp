#include "core/matmul_precision.h"

#include <array>

#include "core/dispatch_state.h"

namespace fuselet {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"highest", "high", "medium"};

}  // namespace

std::string_view name_of(MatmulPrecision precision) { return kNames[static_cast<size_t>(precision)]; }

void set_float32_matmul_precision(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (name != kNames[i]) continue;
    const auto precision = static_cast<MatmulPrecision>(i);
    DispatchState& s = dispatch_state();
    // Products of a compiled function run when it returns, under the setting of then.
    FUSELET_CHECK(precision == s.float32_matmul || (!s.compiled_call && !s.recording),
                  "set_float32_matmul_precision: the setting cannot change inside a compiled function; set it before "
                  "the call");
    s.float32_matmul = precision;
    return;
  }
  fail("set_float32_matmul_precision: expected 'highest', 'high' or 'medium', got '", name, "'");
}

MatmulPrecision float32_matmul_precision() { return dispatch_state().float32_matmul; }

}  // namespace fuselet
