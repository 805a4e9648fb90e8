// Where the values of stages go: into the report, and to whom the environment sends them.
//
//   FUSELET_DUMP=decompose,fuse   the texts of these stages (`all`: of every stage) go to stderr
//   FUSELET_DUMP_DIR=folder       they go to files folder/0003_decompose_<graph>.txt instead, numbered as they come
//
// Both are read at every compilation, so a test or a notebook may change them.
#pragma once
#include <functional>
#include <string>

#include "compiler/report/report.h"

namespace fuselet::report {

// True iff FUSELET_DUMP names the stage or says `all`.
bool dump_wants(const std::string& stage);

// Leaves a stage's value in `report` (may be null) and dumps it if it is wanted. `text` is called only if somebody
// reads it. Error if the folder cannot be written.
void leave_stage(CompileReport* report, const std::string& graph, const std::string& stage, double milliseconds,
                 const std::function<std::string()>& text);

}  // namespace fuselet::report
