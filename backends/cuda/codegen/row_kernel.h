// A kernel over rows: threads of a row, its passes, and how values stay in registers from pass to pass.
//
// A row of n elements has T threads with V neighbouring positions each (core/device_tree.h); a block has several rows
// where T is small. Short rows live in registers: K steps of V elements a thread. Long ones are read again by each
// pass.
#pragma once
#include "backends/cuda/codegen/structures.h"

namespace fuselet::cuda::codegen {

class RowKernel {
 public:
  explicit RowKernel(NestText& t);

  int threads_of_row() const { return threads_; }
  int rows_of_block() const { return rows_; }
  unsigned threads_of_block() const { return static_cast<unsigned>(threads_ * rows_); }
  bool in_registers() const { return in_registers_; }
  int steps() const { return steps_; }
  const Passes& passes() const { return passes_; }

  // thread, row_of_block, shared memory.
  void write_positions();
  // has_row, n and row_at of the current `row`. Where a block has one row, the caller sees to it that there is one.
  void write_row(const std::string& rows);
  // The passes of the current row, from `row` and `has_row`: everything up to row-level stores. `done` has the scalar
  // statements that stand already. Column sums accumulate in column_i[k][v], or in memory where rows are read again.
  void write_passes(std::set<int>* done);
  // Loops over the elements of a pass, with the text inside written by lane statements.
  void open_steps(bool whole_row);
  void close_steps();

 private:
  void write_reduce(int i);
  bool is_column(int i) const;
  void write_long_row(const Pass& pass);

  NestText& t_;
  int threads_ = 1, rows_ = 1, steps_ = 1;
  bool in_registers_ = true;
  bool whole_steps_ = false;  // every thread has V elements in every step
  Passes passes_;
  std::vector<bool> after_columns_;
};

}  // namespace fuselet::cuda::codegen
