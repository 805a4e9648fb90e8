#include "backends/cpu/codegen/row_loops.h"

#include <algorithm>
#include <set>

#include "core/reduction_tree.h"

namespace fuselet::cpu::codegen {

using kernel::Kind;
using kernel::Statement;

namespace {

// Chunks of a row whose results an array holds; of longer rows a tree that grows.
constexpr int64_t kHeldChunks = 64;

// Bytes of a row: shorter ones the processor fetches ahead by itself, of longer ones the cache would lose the next row
// again.
constexpr int64_t kAheadFrom = 1024, kAheadTo = 16384;

// The type of one lane.
const char* lane_type(DType t) { return t == DType::Bool ? "int" : held_type(t); }

}  // namespace

RowLoops::RowLoops(NestWriter& w, bool may_keep)
    : w_(w), passes_(row_passes(w.nest(), may_keep)), after_(after_column_sums(w.nest())) {}

std::vector<bool> RowLoops::of_rows() const {
  std::vector<bool> skip = after_;
  for (int i = 0; i < w_.count(); ++i) {
    const size_t at = static_cast<size_t>(i);
    skip[at] = skip[at] || passes_.ready[at] > 0;
  }
  return skip;
}

void RowLoops::declare_kept() {
  for (const Pass& pass : passes_.passes) {
    for (int i : pass.keeps) {
      w_.line("alignas(64) " + std::string(lane_type(w_.at(i).dtype)) + " kept_" + std::to_string(i) + "[" +
              w_.dim(w_.last()) + " + W];");
    }
  }
}

void RowLoops::begin_row(bool stores) {
  scalars(0, stores);
  std::vector<int> vectors;
  for (const Pass& pass : passes_.passes) {
    for (int i : pass.body) {
      if (std::find(vectors.begin(), vectors.end(), i) == vectors.end()) vectors.push_back(i);
    }
  }
  std::sort(vectors.begin(), vectors.end());
  w_.place_pointers(vectors, w_.last());
}

void RowLoops::scalars(int pass, bool with_stores) {
  for (bool stores : {false, true}) {
    if (stores && !with_stores) return;
    for (int i = 0; i < w_.count(); ++i) {
      const Statement& s = w_.at(i);
      const size_t at = static_cast<size_t>(i);
      if (w_.is_vector(i) || after_[at] || passes_.ready[at] != pass) continue;
      if ((s.kind == Kind::Store) != stores) continue;
      if (pass == 0 && s.varies == 0 && !stores) continue;  // at the top of the function
      w_.scalar_statement(i);
    }
  }
}

// The dearest of the first `count` passes, of equals the last.
const Pass* RowLoops::dearest_of(size_t count) const {
  auto dear = [&](const Pass& p) {
    return std::count_if(p.body.begin(), p.body.end(), [&](int i) { return is_dear(w_.at(i)); });
  };
  const Pass* best = &passes_.passes[0];
  for (size_t p = 1; p < count; ++p) {
    if (dear(passes_.passes[p]) >= dear(*best)) best = &passes_.passes[p];
  }
  return best;
}

// Between the first pass over a row and the last one memory is idle. So what the last one writes is asked for before
// it, and the elements of the row below as well where a pass has time.
void RowLoops::fetch_ahead(const Pass& pass) {
  const size_t rank = w_.rank(), count = passes_.passes.size();
  if (rank < 2 || count < 2) return;
  const bool reads = &pass == dearest_of(count), writes = &pass == dearest_of(count - 1);
  auto worth_it = [&](const Statement& s) {
    const int64_t bytes = w_.nest().dims.back() * static_cast<int64_t>(size_of(s.dtype));
    return s.access.strides[rank - 1] == 1 && s.access.strides[rank - 2] != 0 && bytes >= kAheadFrom &&
           bytes <= kAheadTo;
  };
  std::set<int> loads;
  for (const Pass& p : passes_.passes) {
    for (int i : p.body) {
      if (w_.at(i).kind == Kind::Load && worth_it(w_.at(i))) loads.insert(i);
      if (!writes || &p != &passes_.passes.back() || w_.at(i).kind != Kind::Store || !worth_it(w_.at(i))) continue;
      w_.line("fetch_to_write(at_" + std::to_string(i) + " + j);");
    }
  }
  if (!reads) return;
  for (int i : loads) {
    const std::string below = w_.group().number(
        [=](const PlacedNest& n) { return n.nest->body[static_cast<size_t>(i)].access.strides[rank - 2]; });
    w_.line("fetch_to_read(at_" + std::to_string(i) + " + j + " + below + ");");
  }
}

void RowLoops::body(const Pass& pass, bool chunks) {
  fetch_ahead(pass);
  for (int i : pass.reads) {
    const std::string type = w_.vector_type(w_.at(i).dtype);
    w_.line("const " + type + " " + w_.name(i) + " = kept<" + type + ">(kept_" + std::to_string(i) + " + j);");
  }
  for (int i : pass.body) {
    w_.vector_statement(i);
    if (std::find(pass.keeps.begin(), pass.keeps.end(), i) != pass.keeps.end()) {
      w_.line("keep(kept_" + std::to_string(i) + " + j, " + w_.name(i) + ");");
    }
  }
  for (int i : pass.reduces) {
    const Statement& s = w_.at(i);
    const std::string value = w_.lanes_of(s.args[0], accumulator(s)), number = std::to_string(i);
    if (is_column_sum(w_.nest(), s)) {
      w_.line("add_to_sums<" + std::string(combine_name(s)) + ">(lanes, sums_" + number + " + j, " + value + ");");
    } else if (chunks) {
      w_.line("chunk_" + number + "[c].take(lanes, k, " + value + ");");
    }
  }
}

void RowLoops::pass(int p, const std::string& first, const std::string& stop, bool one_chunk) {
  const Pass& pass = passes_.passes[static_cast<size_t>(p)];
  std::vector<int> reduces;
  bool randoms = false;
  for (int i : pass.reduces) {
    if (!is_column_sum(w_.nest(), w_.at(i))) reduces.push_back(i);
  }
  for (int i : pass.body) randoms = randoms || w_.at(i).kind == Kind::Random;
  if (reduces.empty() && !randoms) {
    w_.open("over_lanes<W>(" + first + ", " + stop +
            ", [&]([[maybe_unused]] auto lanes, [[maybe_unused]] long j) "
            "__attribute__((always_inline))");
    body(pass, false);
    w_.close("});");
    return;
  }
  auto acc = [&](int i) { return std::string(held_type(accumulator(w_.at(i)))); };
  auto combine = [&](int i) { return std::string(combine_name(w_.at(i))); };
  // Nests that share the function agree in the length of rows.
  const int64_t chunks = chunk_count(w_.nest().dims.back());
  const bool held = chunks > 0 && chunks <= kHeldChunks;
  for (int i : reduces) {
    const std::string number = std::to_string(i);
    if (one_chunk)
      w_.line(acc(i) + " total_" + number + ";");
    else
      w_.line(held ? acc(i) + " parts_" + number + "[" + std::to_string(chunks) + "];"
                   : "Tree<" + acc(i) + ", " + combine(i) + "> tree_" + number + ";");
  }
  // Two chunks at once where that leaves none over: each waits for its own last addition, and nothing dear fills the
  // time.
  const bool waits =
      !reduces.empty() && std::none_of(pass.body.begin(), pass.body.end(), [&](int i) { return is_dear(w_.at(i)); });
  const int together = waits && held && !one_chunk && w_.nest().dims.back() % (2 * kChunk) == 0 ? 2 : 1;
  if (one_chunk) {
    w_.open("");
    w_.line("const long first = " + first + ", stop = " + stop + ";");
  } else {
    const std::string step = std::to_string(together * kChunk);
    w_.open("for (long first = " + first + "; first < " + stop + "; first += " + step + ")");
    w_.line("const long stop = least(first + " + step + ", " + stop + ");");
  }
  w_.fill_tiles(pass.body);
  const std::string count = std::to_string(together);
  for (int i : reduces) {
    w_.line("Chunk<" + acc(i) + ", " + combine(i) + ", W> chunk_" + std::to_string(i) + "[" + count + "];");
  }
  if (reduces.empty()) {
    w_.open(
        "over_lanes<W>(first, stop, [&]([[maybe_unused]] auto lanes, [[maybe_unused]] long j) "
        "__attribute__((always_inline))");
  } else {
    w_.open("over_chunks<W, " + count +
            ">(first, stop, [&]([[maybe_unused]] auto lanes, [[maybe_unused]] long j, int k, int c) "
            "__attribute__((always_inline))");
  }
  body(pass, true);
  w_.close("});");
  for (int i : reduces) {
    const std::string number = std::to_string(i);
    for (int c = 0; c < together; ++c) {
      const std::string result = "chunk_" + number + "[" + std::to_string(c) + "].result()";
      w_.line(one_chunk ? "total_" + number + " = " + result + ";"
              : held ? "parts_" + number + "[first / 512" + (c ? " + " + std::to_string(c) : "") + "] = " + result + ";"
                     : "tree_" + number + ".push(" + result + ");");
    }
  }
  w_.close();
  for (int i : reduces) {
    const std::string number = std::to_string(i);
    w_.line("[[maybe_unused]] const " + std::string(held_type(w_.at(i).dtype)) + " " + w_.name(i) + " = " +
            w_.reduced(i, one_chunk ? "total_" + number
                          : held    ? "tree_of_parts<" + combine(i) + ">(parts_" + number + ")"
                                    : "tree_" + number + ".result()") +
            ";");
  }
}

void RowLoops::whole_row() {
  begin_row();
  const std::string n = w_.dim(w_.last());
  const bool one_chunk = size_class(w_.nest()) == 1;
  for (int p = 0; p < static_cast<int>(passes_.passes.size()); ++p) {
    if (p > 0) scalars(p);
    pass(p, "0", n, one_chunk);
  }
  // What depends on the Reduces of the last pass.
  for (int p = std::max(1, static_cast<int>(passes_.passes.size()));
       p <= *std::max_element(passes_.ready.begin(), passes_.ready.end()); ++p) {
    scalars(p);
  }
}

}  // namespace fuselet::cpu::codegen
