// The loops over one row: what the structures made of rows share.
#pragma once
#include <string>

#include "backends/cpu/codegen/nest_writer.h"
#include "backends/cpu/codegen/row_passes.h"

namespace fuselet::cpu::codegen {

class RowLoops {
 public:
  RowLoops(NestWriter& w, bool may_keep);

  const RowPasses& passes() const { return passes_; }
  const std::vector<bool>& after_columns() const { return after_; }
  // Statements that belong to no row: begin_function's `skip`.
  std::vector<bool> of_rows() const;
  // Pointers and scalars of a row, before its first pass. `stores`: Stores of scalars as well, which one tile a row
  // does.
  void begin_row(bool stores = true);
  void declare_kept();
  // The scalars, and their Stores, that are ready once `pass` passes are done.
  void scalars(int pass, bool stores = true);
  // All passes and scalars of the row that position variables name, over elements [0, n).
  void whole_row();
  // One pass over [first, stop). Results of Reduces go into variables.
  void pass(int p, const std::string& first, const std::string& stop, bool one_chunk);

 private:
  const Pass* dearest_of(size_t count) const;
  void fetch_ahead(const Pass& pass);
  void body(const Pass& pass, bool chunks);

  NestWriter& w_;
  RowPasses passes_;
  std::vector<bool> after_;
};

}  // namespace fuselet::cpu::codegen
