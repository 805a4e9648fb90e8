// Row reductions, and those of few long rows in two phases.
#include <numeric>

#include "backends/cuda/codegen/row_kernel.h"
#include "core/device_tree.h"

namespace fuselet::cuda::codegen {

using kernel::Kind;

namespace {

int64_t rows_of(const kernel::Nest& nest) {
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < nest.dims.size(); ++d) rows *= nest.dims[d];
  return rows;
}

std::vector<size_t> outer_dims(const NestText& t) {
  std::vector<size_t> dims(t.last());
  std::iota(dims.begin(), dims.end(), size_t{0});
  return dims;
}

}  // namespace

std::vector<PhaseText> write_rows(NestText& t, const NestPlace&) {
  RowKernel rows(t);
  const int64_t count = rows_of(t.nest());
  rows.write_positions();
  t.line("const Index row = block * " + std::to_string(rows.rows_of_block()) + " + row_of_block;");
  rows.write_row(t.number("rows", count));
  t.unravel("row_at", outer_dims(t));
  std::set<int> done;
  rows.write_passes(&done);
  std::vector<PhaseText> out;
  out.push_back(t.take(rows.threads_of_block(), (count + rows.rows_of_block() - 1) / rows.rows_of_block()));
  return out;
}

std::vector<PhaseText> write_split_rows(NestText& t, const NestPlace& place) {
  const kernel::Nest& nest = t.nest();
  const int64_t rows = rows_of(nest), n = nest.dims.back(), chunks = device_chunks(n);
  const std::string lanes = std::to_string(t.lanes());
  const int threads = static_cast<int>(row_positions(std::min<int64_t>(n, kDeviceChunk)) / t.lanes());
  std::vector<int> reduces, stores;
  for (int i = 0; i < t.count(); ++i) {
    if (t.at(i).kind == Kind::Reduce) reduces.push_back(i);
    if (t.at(i).kind == Kind::Store && !t.is_lane(i)) stores.push_back(i);
  }
  auto partials = [&](int i) {
    return t.scratch("partials_" + std::to_string(i), t.accumulator_type(i), place.scratch + partials_offset(nest, i));
  };
  std::vector<PhaseText> out;

  // A block for each chunk of a row.
  t.line("constexpr int kThreads = " + std::to_string(threads) + ";");
  t.line("const int thread = threadIdx.x;");
  t.line("__shared__ double slots[" + std::to_string(std::max(1, threads / 32)) + "];");
  const std::string row = t.quotient("block", "chunks", chunks);
  t.line("[[maybe_unused]] const Index row = " + row + ";");
  t.line("const Index chunk = (block - row * " + t.number("chunks", chunks) + ") * (Index)kDeviceChunk;");
  t.line("const Index row_length = " + t.dim(t.last()) + ";");
  t.line("const Index n = row_length - chunk < kDeviceChunk ? row_length : chunk + (Index)kDeviceChunk;");
  t.unravel("row", outer_dims(t));
  std::set<int> done;
  t.scalar_statements(~0u, &done);
  const Passes passes = plan_passes(nest, false);
  for (int i : reduces) t.declare_accumulator(i);
  t.line("#pragma unroll 4");
  t.open("for (Index first = chunk + (Index)thread * " + lanes + "; first < n; first += kThreads * " + lanes + ")");
  t.lane_statements(passes.list.at(0), "");
  t.close();
  for (int i : reduces) {
    const std::string number = std::to_string(i);
    t.line("const " + t.accumulator_type(i) + " part_" + number + " = combine_positions<" + combine_name(t.at(i)) +
           ", " + lanes + ", kThreads>(acc_" + number + ", (" + t.accumulator_type(i) + "*)slots, thread);");
    t.line("if (thread == 0) " + partials(i) + "[block] = part_" + number + ";");
  }
  out.push_back(t.take(static_cast<unsigned>(threads), rows * chunks));

  // A thread for each row combines its chunks.
  t.line("const Index row = block * 32 + (Index)threadIdx.x;");
  t.line("if (row >= " + t.number("rows", rows) + ") return;");
  t.line("const Index chunks = " + t.number("chunks", chunks) + ";");
  t.unravel("row", outer_dims(t));
  done.clear();
  for (int i : reduces) {
    t.line("[[maybe_unused]] const " + std::string(held_type(t.at(i).dtype)) + " " + t.name(i) + " = " +
           t.reduced(i, "combine_partials<" + std::string(combine_name(t.at(i))) + ">(" + partials(i) +
                            " + row * chunks, chunks, (Index)1)") +
           ";");
    done.insert(i);
  }
  t.scalar_statements(~0u, &done);
  for (int i : stores) t.scalar_statement(i);
  out.push_back(t.take(32, (rows + 31) / 32));
  return out;
}

}  // namespace fuselet::cuda::codegen
