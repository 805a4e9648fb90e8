// How a training step was compiled, and how its calls were served, from its report and ledger.
#pragma once
#include <fuselet/compile.h>

#include <cstdio>

namespace fuselet {

inline void print_summary(const report::CompileReport& report, const Ledger& ledger) {
  double milliseconds = 0;
  for (const Compilation& c : ledger.compilations) milliseconds += c.milliseconds;
  std::printf("compiled step: %d operators -> %d primitives -> %zu kernels and %zu calls of products and the like\n",
              report.operators, report.primitives, report.kernels.size(), report.calls.size());
  std::printf("  memory traffic of the kernels %.1f KiB instead of %.1f KiB; arena %.1f KiB instead of %.1f KiB\n",
              static_cast<double>(report.bytes_fused) / 1024, static_cast<double>(report.bytes_unfused) / 1024,
              static_cast<double>(report.arena_bytes) / 1024, static_cast<double>(report.arena_bytes_unshared) / 1024);
  if (report.partition)
    std::printf("  %lld bytes saved for the backward, %zu values recomputed\n",
                static_cast<long long>(report.partition->saved_bytes), report.partition->recomputed.size());
  else
    std::printf("  forward, backward and update are one graph: nothing is saved between two calls\n");
  std::printf("  compiled in %.0f ms; %lld compiled calls, %lld eager, %zu compilations\n", milliseconds,
              static_cast<long long>(ledger.compiled), static_cast<long long>(ledger.eager),
              ledger.compilations.size());
  for (const Compilation& c : ledger.compilations)
    std::printf("    %s%s%s\n", c.reason.c_str(), c.line.empty() ? "" : " at ", c.line.c_str());
}

}  // namespace fuselet
