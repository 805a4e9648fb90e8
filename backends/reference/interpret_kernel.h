// A kernel in double precision: the oracle of generated code. Values are not rounded but where they are stored.
#pragma once
#include "compiler/lower/interpret_kernel.h"

namespace fuselet::reference {

int interpret(const kernel::Kernel& kernel, const kernel::KernelArguments& arguments);

}  // namespace fuselet::reference
