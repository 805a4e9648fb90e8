// Generated CPU kernels beside the triad: part of `./dev bench cpu`.
#pragma once

namespace fuselet::perf {

void bench_kernels();

}  // namespace fuselet::perf
