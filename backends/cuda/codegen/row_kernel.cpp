#include "backends/cuda/codegen/row_kernel.h"

#include <algorithm>

#include "core/device_tree.h"

namespace fuselet::cuda::codegen {

using kernel::Kind;
using kernel::Statement;

namespace {

// Elements of a row that stay in registers: 16 a thread of 1024. Longer rows would spill.
constexpr int64_t kRegisterRow = 16384;

bool fits_registers(const kernel::Nest& nest) { return nest.dims.back() <= kRegisterRow; }

int64_t power_of_two_from(int64_t n) {
  int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

}  // namespace

RowKernel::RowKernel(NestText& t)
    : t_(t),
      in_registers_(fits_registers(t.nest())),
      passes_(plan_passes(t.nest(), in_registers_)),
      after_columns_(fuselet::codegen::after_column_sums(t.nest())) {
  const int64_t n = t.nest().dims.back(), positions = row_positions(std::min<int64_t>(n, kDeviceChunk));
  threads_ = static_cast<int>(std::max<int64_t>(1, positions / t.lanes()));
  rows_ = std::max(1, static_cast<int>(kBlockThreads) / 2 / threads_);
  if (in_registers_) steps_ = static_cast<int>(power_of_two_from((n + positions - 1) / positions));
  whole_steps_ = in_registers_ && rows_ == 1 && n == positions * steps_;
}

bool RowKernel::is_column(int i) const { return fuselet::codegen::is_column_sum(t_.nest(), t_.at(i)); }

void RowKernel::write_positions() {
  const std::string threads = std::to_string(threads_);
  t_.line("constexpr int kThreads = " + threads + ";  // of a row");
  t_.line("const int thread = threadIdx.x % kThreads;");
  t_.line("[[maybe_unused]] const int row_of_block = threadIdx.x / kThreads;");
  if (threads_ > 32) {
    t_.line("__shared__ double warp_results[" + std::to_string(threads_ / 32 * rows_) + "];");
    t_.line("[[maybe_unused]] double* const slots = warp_results + row_of_block * " + std::to_string(threads_ / 32) +
            ";");
  } else {
    t_.line("double* const slots = nullptr;");
  }
}

void RowKernel::write_row(const std::string& rows) {
  if (rows_ == 1) {
    t_.line("[[maybe_unused]] constexpr bool has_row = true;");
    t_.line("const Index n = " + t_.dim(t_.last()) + ";");
    t_.line("[[maybe_unused]] const Index row_at = row;");
  } else {
    t_.line("const bool has_row = row < " + rows + ";");
    t_.line("const Index n = has_row ? " + t_.dim(t_.last()) + " : 0;");
    t_.line("[[maybe_unused]] const Index row_at = has_row ? row : 0;");
  }
}

void RowKernel::open_steps(bool whole_row) {
  const std::string lanes = std::to_string(t_.lanes());
  if (in_registers_) {
    t_.line("#pragma unroll");
    t_.open("for (int k = 0; k < " + std::to_string(steps_) + "; ++k)");
    t_.line("const Index first = (Index)(k * kThreads + thread) * " + lanes + ";");
    // Without a guard, loads are given ahead of the arithmetic: a sixth of the time of a row with some.
    if (whole_steps_) t_.line("assume_in_row(first, n);");
  } else {
    const std::string from = whole_row ? "0" : "chunk", end = whole_row ? "n" : "chunk_end";
    t_.open("for (Index first = " + from + " + (Index)thread * " + lanes + "; first < " + end +
            "; first += kThreads * " + lanes + ")");
  }
}
void RowKernel::close_steps() { t_.close(); }

// From acc_i[V] to the value that every thread of the row has.
void RowKernel::write_reduce(int i) {
  const Statement& s = t_.at(i);
  const std::string type = t_.accumulator_type(i), lanes = std::to_string(t_.lanes());
  const std::string all = "combine_positions<" + std::string(combine_name(s)) + ", " + lanes + ", kThreads>(acc_" +
                          std::to_string(i) + ", (" + type + "*)slots, thread)";
  t_.line("[[maybe_unused]] const " + std::string(held_type(s.dtype)) + " " + t_.name(i) + " = " + t_.reduced(i, all) +
          ";" + note_text(s));
}

// A row of several chunks: each chunk's result goes to its position of the partial results.
void RowKernel::write_long_row(const Pass& pass) {
  std::vector<int> reduces;
  for (int i : pass.reduces) {
    if (!is_column(i)) reduces.push_back(i);
  }
  for (int i : reduces) {
    const std::string partials = "partials_" + std::to_string(i), type = t_.accumulator_type(i);
    t_.line(type + " " + partials + "[kPartialPositions];");
    t_.line("for (int p = 0; p < kPartialPositions; ++p) " + partials + "[p] = " + combine_name(t_.at(i)) +
            "::identity<" + type + ">();");
  }
  t_.open("for (Index chunk = 0; chunk < (has_row ? " + t_.dim(t_.last()) + " : 0); chunk += kDeviceChunk)");
  t_.line("const Index chunk_end = n - chunk < kDeviceChunk ? n : chunk + (Index)kDeviceChunk;");
  for (int i : reduces) t_.declare_accumulator(i);
  open_steps(false);
  t_.lane_statements(pass, "");
  close_steps();
  for (int i : reduces) {
    const Statement& s = t_.at(i);
    const std::string at = "partials_" + std::to_string(i) + "[chunk / kDeviceChunk % kPartialPositions]";
    t_.line(at + " = " + combine_name(s) + "()(" + at + ", combine_positions<" + combine_name(s) + ", " +
            std::to_string(t_.lanes()) + ", kThreads>(acc_" + std::to_string(i) + ", (" + t_.accumulator_type(i) +
            "*)slots, thread));");
  }
  t_.close();
  for (int i : reduces) {
    const Statement& s = t_.at(i);
    t_.line("[[maybe_unused]] const " + std::string(held_type(s.dtype)) + " " + t_.name(i) + " = " +
            t_.reduced(i, "combine_partials<" + std::string(combine_name(s)) + ">(partials_" + std::to_string(i) +
                              ", kPartialPositions, 1)") +
            ";" + note_text(s));
  }
}

void RowKernel::write_passes(std::set<int>* done) {
  const kernel::Nest& nest = t_.nest();
  const uint32_t outer = (1u << t_.last()) - 1;
  t_.scalar_statements(outer, done);
  for (const Pass& pass : passes_.list) {
    for (int i : pass.keeps)
      t_.line(t_.kept_type(i) + " kept_" + std::to_string(i) + "[" + std::to_string(steps_) + "][" +
              std::to_string(t_.lanes()) + "];");
  }
  const bool chunked = !in_registers_ && nest.dims.back() > kDeviceChunk;
  for (const Pass& pass : passes_.list) {
    const bool reduces = std::any_of(pass.reduces.begin(), pass.reduces.end(), [&](int i) { return !is_column(i); });
    if (reduces && chunked) {
      write_long_row(pass);
    } else {
      Pass rows = pass;
      std::vector<int> columns;
      std::erase_if(rows.reduces, [&](int i) { return is_column(i) && (columns.push_back(i), true); });
      for (int i : rows.reduces) t_.declare_accumulator(i);
      // The columns' accumulators are those of the step.
      open_steps(true);
      if (in_registers_) {
        for (int i : columns) t_.line("auto& acc_" + std::to_string(i) + " = column_" + std::to_string(i) + "[k];");
      } else {
        for (int i : columns)
          t_.line(t_.accumulator_type(i) + " acc_" + std::to_string(i) + "[" + std::to_string(t_.lanes()) + "];");
        for (int i : columns)
          t_.line("read_column_partials<" + std::string(combine_name(t_.at(i))) + ">(is_first_row, column_" +
                  std::to_string(i) + ", first, n, acc_" + std::to_string(i) + ");");
      }
      t_.lane_statements(pass, in_registers_ ? "[k]" : "");
      if (!in_registers_) {
        for (int i : columns)
          t_.line("store_pack<false>(column_" + std::to_string(i) + ", first, n, acc_" + std::to_string(i) + ");");
      }
      close_steps();
      for (int i : rows.reduces) write_reduce(i);
    }
    for (int i : pass.reduces) {
      if (!is_column(i)) done->insert(i);
    }
    t_.scalar_statements(outer, done);
  }
  // Row-level results.
  std::vector<int> stores;
  for (int i = 0; i < t_.count(); ++i) {
    if (t_.at(i).kind == Kind::Store && !t_.is_lane(i) && !after_columns_[static_cast<size_t>(i)]) stores.push_back(i);
  }
  if (stores.empty()) return;
  t_.open("if (has_row && thread == 0)");
  for (int i : stores) t_.scalar_statement(i);
  t_.close();
}

}  // namespace fuselet::cuda::codegen
