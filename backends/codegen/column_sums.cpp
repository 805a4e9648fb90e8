#include "backends/codegen/column_sums.h"

namespace fuselet::codegen {

using kernel::Kind;
using kernel::Nest;
using kernel::Statement;
using kernel::Structure;

kernel::Nest with_column_vectors(kernel::Nest nest) {
  const uint32_t last = 1u << (nest.dims.size() - 1);
  for (kernel::Statement& s : nest.body) {
    bool vector = (s.kind == kernel::Kind::Reduce && s.tree == kernel::Tree::Column) ||
                  (s.kind == kernel::Kind::Store && nest.structure == kernel::Structure::Columns);
    auto depends = [&](int32_t a) {
      const kernel::Statement& arg = nest.body[static_cast<size_t>(a)];
      vector = vector || (arg.varies & last);
    };
    if (!(s.kind == kernel::Kind::Reduce && s.tree == kernel::Tree::Row)) {
      for (int32_t a : s.args) depends(a);
      for (const auto& d : s.indices) depends(d.statement);
    }
    if (vector) s.varies |= last;
  }
  return nest;
}

bool is_column_sum(const Nest& nest, const Statement& s) {
  return s.kind == Kind::Reduce && nest.structure == Structure::RowsAndColumns && s.tree == kernel::Tree::Column;
}

std::vector<bool> after_column_sums(const Nest& nest) {
  std::vector<bool> after(nest.body.size());
  for (size_t i = 0; i < after.size(); ++i) {
    const Statement& s = nest.body[i];
    bool depends = is_column_sum(nest, s);
    for (int32_t a : s.args) depends = depends || after[static_cast<size_t>(a)];
    for (const kernel::IndexedDim& d : s.indices) depends = depends || after[static_cast<size_t>(d.statement)];
    after[i] = depends;
  }
  return after;
}

}  // namespace fuselet::codegen
