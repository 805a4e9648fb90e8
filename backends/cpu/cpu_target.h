// The CPU's code generator and just-in-time compiler, as the compiler sees them.
#pragma once

namespace fuselet::cpu {

void register_cpu_target();

}  // namespace fuselet::cpu
