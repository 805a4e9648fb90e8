// What a compilation amounts to, for its report: counts, kernels with their sources, refusals, bytes.
#pragma once
#include "compiler/fuse/fuse.h"
#include "compiler/plan/planned_executable.h"
#include "compiler/report/report.h"

namespace fuselet {

// `recorded`: the graph before any stage.
void summarise(const ir::Graph& recorded, const fuse::Fusion& fusion, const plan::ExecutableParts& parts,
               report::CompileReport* report);

}  // namespace fuselet
