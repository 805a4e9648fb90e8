// A kernel without a compiler: interpreted, to the bits of generated code.
#pragma once
#include "compiler/lower/interpret_kernel.h"
#include "compiler/target.h"

namespace fuselet::cpu {

int interpret(const kernel::Kernel& kernel, const kernel::KernelArguments& arguments);

// Sets function, context, owner and origin; the kernel is copied.
void make_interpreted(const kernel::Kernel& kernel, CompiledKernel& compiled);

}  // namespace fuselet::cpu
