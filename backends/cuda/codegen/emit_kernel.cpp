#include "backends/cuda/codegen/emit_kernel.h"

#include <algorithm>
#include <set>

#include "backends/codegen/prelude_text.h"
#include "backends/cuda/codegen/structures.h"

namespace fuselet::cuda::codegen {

using kernel::Kernel;
using kernel::Kind;
using kernel::Structure;

namespace {

// Offsets of every access stay below it where `Index` is int; block and thread arithmetic goes beyond them by less than
// as much again.
constexpr int64_t kSmall = int64_t{1} << 30;

bool has_small_offsets(const kernel::Nest& nest) {
  int64_t positions = 1;
  for (int64_t d : nest.dims) positions *= std::max<int64_t>(d, 1);
  if (positions >= kSmall) return false;
  for (const kernel::Statement& s : nest.body) {
    int64_t reach = 0;
    for (size_t d = 0; d < s.access.strides.size(); ++d)
      reach += std::abs(s.access.strides[d]) * std::max<int64_t>(nest.dims[d] - 1, 0);
    if (reach >= kSmall) return false;
  }
  return true;
}

std::vector<PhaseText> write_nest(NestText& wide, NestText& narrow, const NestPlace& place) {
  switch (wide.nest().structure) {
    case Structure::Pointwise:
    case Structure::Tile:
      return write_pointwise(wide, place);
    case Structure::Rows:
      return write_rows(wide, place);
    case Structure::SplitRows:
      return write_split_rows(wide, place);
    case Structure::Columns:
      return write_columns(wide, narrow, place);
    case Structure::RowsAndColumns:
      return write_rows_and_columns(wide, narrow, place);
  }
  __builtin_unreachable();
}

class KernelEmitter {
 public:
  KernelEmitter(const Kernel& kernel, bool aligned) : kernel_(kernel), aligned_(aligned) {}

  EmittedKernel emit() {
    for (size_t s = 0; s < kernel_.stages.size(); ++s) stage(kernel_.stages[s], s);
    out_.source = "// " + kernel_.name + "\n" + fuselet::codegen::prelude_text(files_) +
                  "\nusing namespace fuselet;\nusing namespace fuselet::device;\n\n" + functions_;
    return std::move(out_);
  }

 private:
  // Nests whose kernels have one text.
  struct Written {
    std::vector<PhaseText> phases;
    std::vector<std::vector<NestArguments>> arguments;  // phase, nest
    bool small = true, aligned = true;
  };

  void stage(const kernel::Stage& stage, size_t number) {
    std::vector<Written> groups;
    int64_t scratch = 0;
    for (const kernel::Nest& nest : stage.nests) {
      nest_of(nest, {scratch, stage.nests.size() == 1}, groups);
      scratch += scratch_bytes_of(nest);
    }
    out_.scratch_bytes = std::max(out_.scratch_bytes, scratch);
    for (size_t g = 0; g < groups.size(); ++g) {
      for (size_t p = 0; p < groups[g].phases.size(); ++p)
        function(groups[g], p,
                 std::to_string(number) + "_" + std::to_string(g) +
                     (groups[g].phases.size() > 1 ? "_" + std::to_string(p) : ""));
    }
  }

  // How many neighbouring elements a thread has, and whether they are one access.
  struct Width {
    int lanes;
    bool aligned;
  };
  Width width_of(const kernel::Nest& nest) const {
    const int lanes = choose_lanes(nest);
    const bool aligned = aligned_ && lanes > 1 && may_align(nest, lanes);
    const bool rows = nest.structure == Structure::Rows || nest.structure == Structure::SplitRows ||
                      nest.structure == Structure::RowsAndColumns;
    // Elsewhere lanes are there for wide accesses alone.
    if (!rows) return {aligned ? lanes : 1, aligned};
    // The positions of a row are owned in fours whatever the accesses are, or in eights; a row of 16 has four.
    constexpr int64_t kOneThreadRow = 16;
    if (aligned && (lanes == 4 || nest.dims.back() > kOneThreadRow)) return {lanes, true};
    return {4, aligned_ && lanes > 1 && may_align(nest, 4)};
  }

  void nest_of(const kernel::Nest& lowered, const NestPlace& place, std::vector<Written>& groups) {
    const bool columns = lowered.structure == Structure::Columns || lowered.structure == Structure::RowsAndColumns;
    const kernel::Nest nest = columns ? fuselet::codegen::with_column_vectors(lowered) : lowered;
    const int first_load_at = load_ats_;
    for (const kernel::Statement& s : nest.body) load_ats_ += s.kind == Kind::LoadAt;
    int64_t positions = 1;
    for (size_t d = 0; d + 1 < nest.dims.size(); ++d) positions *= nest.dims[d];
    const bool reduces = nest.structure != Structure::Pointwise && nest.structure != Structure::Tile;
    if (positions == 0 || (!reduces && nest.dims.back() == 0)) {
      // No element; sums over nothing are left, in nests that keep a dim outside them.
      bool kept = nest.structure == Structure::Columns && nest.dims.back() > 0;
      for (size_t d = 0; kept && d + 2 < nest.dims.size(); ++d) kept = nest.dims[d] > 0;
      kept = kept || (nest.structure == Structure::RowsAndColumns && nest.dims.back() > 0);
      if (!kept) return;
    }
    const Width width = width_of(nest);
    NestText wide(nest, kernel_, first_load_at, width.lanes, width.aligned);
    NestText narrow(nest, kernel_, first_load_at, 1, false);
    Written written{write_nest(wide, narrow, place), {}, has_small_offsets(nest), width.aligned};
    for (const NestText* t : {&wide, &narrow}) {
      files_.insert(t->files().begin(), t->files().end());
      out_.aligned.insert(out_.aligned.end(), t->aligned_accesses().begin(), t->aligned_accesses().end());
    }
    for (Written& group : groups) {
      if (!have_one_text(group, written)) continue;
      for (size_t p = 0; p < written.phases.size(); ++p)
        group.arguments[p].push_back(std::move(written.phases[p].arguments));
      return;
    }
    for (PhaseText& phase : written.phases) written.arguments.push_back({std::move(phase.arguments)});
    groups.push_back(std::move(written));
  }

  static bool have_one_text(const Written& a, const Written& b) {
    if (a.phases.size() != b.phases.size() || a.small != b.small || a.aligned != b.aligned) return false;
    for (size_t p = 0; p < a.phases.size(); ++p) {
      if (a.phases[p].fields != b.phases[p].fields || a.phases[p].body != b.phases[p].body ||
          a.phases[p].threads != b.phases[p].threads)
        return false;
    }
    return true;
  }

  void function(Written& group, size_t p, const std::string& number) {
    const PhaseText& phase = group.phases[p];
    std::erase_if(group.arguments[p], [](const NestArguments& a) { return a.blocks == 0; });
    if (group.arguments[p].empty()) return;
    const std::string arguments = "Arguments_" + number, entry = "kernel_" + number;
    const bool table = group.arguments[p].size() > 1;
    functions_ += "struct " + arguments + " {\n" + phase.fields + "};\n";
    functions_ +=
        "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(phase.threads) + ") " + entry + "(";
    functions_ += table ? "const Table table) {\n" : "const " + arguments + " args) {\n";
    functions_ += std::string("  using Index = ") + (group.small ? "int" : "long") + ";\n";
    functions_ +=
        std::string("  [[maybe_unused]] constexpr bool kAligned = ") + (group.aligned ? "true;\n" : "false;\n");
    if (table) {
      files_.insert("backends/cuda/codegen/prelude/table.h");
      functions_ += "  const int nest = nest_of_block(table, blockIdx.x);\n  const " + arguments + "& args = ((const " +
                    arguments + "*)table.arguments)[nest];\n  const Index block = (Index)(blockIdx.x - " +
                    "table.first_blocks[nest]);\n";
    } else {
      functions_ += "  const Index block = blockIdx.x;\n";
    }
    functions_ += phase.body + "}\n\n";
    out_.launches.push_back({entry, phase.threads, std::move(group.arguments[p])});
  }

  const Kernel& kernel_;
  bool aligned_;
  int load_ats_ = 0;
  std::set<std::string> files_;
  std::string functions_;
  EmittedKernel out_;
};

}  // namespace

EmittedKernel emit_kernel(const Kernel& kernel, bool aligned) { return KernelEmitter(kernel, aligned).emit(); }

int64_t scratch_bytes(const Kernel& kernel) {
  int64_t most = 0;
  for (const kernel::Stage& stage : kernel.stages) {
    int64_t sum = 0;
    for (const kernel::Nest& nest : stage.nests) sum += scratch_bytes_of(nest);
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace fuselet::cuda::codegen
