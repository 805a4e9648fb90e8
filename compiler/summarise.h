// What a compilation amounts to, for its report: counts, kernels with their sources, refusals, bytes.
#pragma once
#include "compiler/fuse/fuse.h"
#include "compiler/plan/planned_executable.h"
#include "compiler/report/report.h"

namespace fuselet {

// `recorded`: the graph before any stage.
void summarise(const ir::Graph& recorded, const fuse::Fusion& fusion, const plan::ExecutableParts& parts,
               report::CompileReport* report);

// Adds what a later backward amounts to; its stages and kernels are named "backward.…".
void append_backward(report::CompileReport& report, const report::CompileReport& backward);

}  // namespace fuselet
