#include "backends/cpu/codegen/emit_kernel.h"

#include <algorithm>
#include <cmath>

#include "backends/codegen/prelude_text.h"
#include "backends/cpu/codegen/row_passes.h"
#include "backends/cpu/codegen/structures.h"

namespace fuselet::cpu::codegen {

using fuselet::codegen::prelude_text;

using kernel::Kernel;
using kernel::Kind;
using kernel::Structure;

namespace {

// Work that pays for waking a thread, in bytes moved: about ten microseconds.
constexpr double kGrainBytes = 1048576;

std::vector<Phase> write_nest(NestWriter& w, const std::string& name) {
  switch (w.nest().structure) {
    case Structure::Pointwise:
      if (const auto dim = crossing_dim(w.nest())) return write_crossing(w, name, *dim);
      return write_pointwise(w, name);
    case Structure::Tile:
      return write_tile(w, name);
    case Structure::Rows:
      return write_rows(w, name);
    case Structure::SplitRows:
      return write_split_rows(w, name);
    case Structure::Columns:
      return write_columns(w, name);
    case Structure::RowsAndColumns:
      return write_rows_and_columns(w, name);
  }
  __builtin_unreachable();
}

constexpr int64_t kScratchMultiple = 64;

// The nests of a stage with their scratch memory; returns its size.
int64_t place_nests(const kernel::Stage& stage, int& load_ats, std::vector<PlacedNest>& placed) {
  int64_t used = 0;
  for (const kernel::Nest& nest : stage.nests) {
    PlacedNest n{&nest, load_ats, {}};
    for (int64_t bytes : scratch_of(nest)) {
      n.scratch.push_back(bytes ? used : -1);
      used += (bytes + kScratchMultiple - 1) / kScratchMultiple * kScratchMultiple;
    }
    for (const auto& s : nest.body) load_ats += s.kind == Kind::LoadAt;
    placed.push_back(std::move(n));
  }
  return used;
}

class KernelEmitter {
 public:
  explicit KernelEmitter(const Kernel& kernel) : kernel_(kernel) {}

  std::string emit() {
    for (size_t s = 0; s < kernel_.stages.size(); ++s) stage(kernel_.stages[s], std::to_string(s));
    return "// " + kernel_.name + "\n" + prelude_text(files_) +
           "\nusing namespace fuselet;\nusing namespace fuselet::generated;\n\nnamespace {\n\n" + functions_ +
           "}  // namespace\n\n" + "extern \"C\" __attribute__((visibility(\"default\"))) int " + kEntry +
           "(const void* context, void* const* buffers, const double* scalars, const void* draws, void* scratch) {\n"
           "  int failed = 0;\n"
           "  const Task task{buffers, scalars, (const Draw*)draws, (char*)scratch, &failed};\n"
           "  [[maybe_unused]] const Runtime* runtime = (const Runtime*)context;\n" +
           steps_ + "  return failed;\n}\n";
  }

 private:
  // One group's functions and, for each phase, its parts.
  struct Written {
    std::vector<Phase> phases;
    std::string table;  // its name; empty: the nests agree in everything
    size_t nests;
  };

  void stage(const kernel::Stage& stage, const std::string& number) {
    std::vector<PlacedNest> placed;
    place_nests(stage, load_ats_, placed);
    std::vector<Written> written;
    std::vector<NestGroup> groups = group_nests(placed, kernel_);
    for (size_t g = 0; g < groups.size(); ++g) {
      const std::string name = "nest_" + number + "_" + std::to_string(g);
      NestWriter w(groups[g], kernel_);
      Written one{write_nest(w, name), "", groups[g].nests().size()};
      files_.insert(w.files().begin(), w.files().end());
      if (!groups[g].columns().empty()) {
        one.table = "numbers_" + number + "_" + std::to_string(g);
        functions_ += table(one.table, groups[g]);
      }
      functions_ += w.take() + "\n";
      written.push_back(std::move(one));
    }
    size_t phases = 0;
    for (const Written& one : written) phases = std::max(phases, one.phases.size());
    for (size_t p = 0; p < phases; ++p) region(written, p, "parts_" + number + "_" + std::to_string(p));
  }

  static std::string table(const std::string& name, const NestGroup& group) {
    const size_t width = group.columns().size();
    std::string text = "const long " + name + "[][" + std::to_string(width) + "] = {\n";
    for (size_t n = 0; n < group.nests().size(); ++n) {
      text += "    {";
      for (size_t c = 0; c < width; ++c) text += (c ? ", " : "") + std::to_string(group.columns()[c][n]);
      text += "},\n";
    }
    return text + "};\n";
  }

  void region(const std::vector<Written>& written, size_t p, const std::string& name) {
    int64_t tiles = 0, parts = 0;
    double work = 1;
    std::string text;
    for (const Written& one : written) {
      if (p >= one.phases.size()) continue;
      const Phase& phase = one.phases[p];
      work = std::max(work, phase.work);
      for (size_t n = 0; n < one.nests; ++n) {
        if (phase.tiles[n] == 0) continue;
        text += "    {" + std::to_string(tiles) + ", " + phase.function + ", " +
                (one.table.empty() ? "nullptr" : one.table + "[" + std::to_string(n) + "]") + "},\n";
        tiles += phase.tiles[n];
        ++parts;
      }
    }
    if (parts == 0) return;
    functions_ += "constexpr Part " + name + "[] = {\n" + text + "};\n\n";
    const auto grain = static_cast<int64_t>(std::ceil(kGrainBytes / work));
    steps_ += "  run(runtime, task, " + name + ", " + std::to_string(parts) + ", " + std::to_string(tiles) + ", " +
              std::to_string(grain) + ");\n";
  }

  const Kernel& kernel_;
  int load_ats_ = 0;
  std::set<std::string> files_;
  std::string functions_, steps_;
};

}  // namespace

std::string emit_kernel(const Kernel& kernel) { return KernelEmitter(kernel).emit(); }

int64_t scratch_bytes(const Kernel& kernel) {
  int64_t most = 0;
  for (const kernel::Stage& stage : kernel.stages) {
    std::vector<PlacedNest> placed;
    int load_ats = 0;
    most = std::max(most, place_nests(stage, load_ats, placed));
  }
  return most;
}

}  // namespace fuselet::cpu::codegen
