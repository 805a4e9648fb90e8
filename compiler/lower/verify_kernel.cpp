#include <algorithm>

#include "compiler/lower/kernel.h"
#include "core/error.h"

namespace fuselet::kernel {
namespace {

class NestVerifier {
 public:
  NestVerifier(const Kernel& kernel, const Nest& nest) : kernel_(kernel), nest_(nest), rank_(nest.dims.size()) {}

  void run() {
    require(rank_ >= 1 && rank_ <= 32, "a nest has at least one dim");
    require(nest_.structure != Structure::Columns || rank_ >= 2, "columns need two dims");
    for (int64_t n : nest_.dims) require(n >= 0, "a dim is negative");
    for (at_ = 0; at_ < nest_.body.size(); ++at_) statement(nest_.body[at_]);
  }

 private:
  void require(bool condition, const char* what) const {
    if (condition) [[likely]]
      return;
    throw InternalError(concat("kernel ", kernel_.name, ", statement %", at_, ": ", what, "\n", print(kernel_)),
                        __FILE__, __LINE__);
  }
  const Statement& arg(size_t i) const { return nest_.body[static_cast<size_t>(nest_.body[at_].args[i])]; }
  uint32_t last() const { return 1u << (rank_ - 1); }
  uint32_t all() const { return static_cast<uint32_t>((uint64_t{1} << rank_) - 1); }

  // The dims of more than one position that the access crosses.
  uint32_t crossed(const Access& a) const {
    uint32_t mask = 0;
    for (size_t d = 0; d < rank_; ++d) {
      if (a.strides[d] != 0) mask |= 1u << d;
    }
    return mask;
  }

  void access(const Access& a, bool of_memory) {
    require(a.strides.size() == rank_, "an access has one stride for each dim");
    if (!of_memory) return require(a.buffer == -1, "it has a buffer");
    require(a.buffer >= 0 && static_cast<size_t>(a.buffer) < kernel_.buffers.size(), "no such buffer");
    int64_t low = a.offset, high = a.offset;
    for (size_t d = 0; d < rank_; ++d) {
      if (nest_.dims[d] == 0) return;
      (a.strides[d] < 0 ? low : high) += (nest_.dims[d] - 1) * a.strides[d];
    }
    for (const IndexedDim& i : nest_.body[at_].indices) {
      if (i.size > 0) (i.stride < 0 ? low : high) += (i.size - 1) * i.stride;
      if (i.size <= 0) return;
    }
    require(low >= 0 && high < kernel_.buffers[static_cast<size_t>(a.buffer)].elements, "an access leaves its buffer");
  }

  void statement(const Statement& s) {
    uint32_t varies = s.kind == Kind::Constant || s.kind == Kind::Scalar ? 0 : s.varies;
    require((s.varies & ~all()) == 0, "it varies over a dim that does not exist");
    for (int32_t a : s.args) {
      require(a >= 0 && static_cast<size_t>(a) < at_, "an argument is not defined before");
      require(nest_.body[static_cast<size_t>(a)].kind != Kind::Store, "a Store has no value");
    }
    uint32_t from_args = 0;
    for (int32_t a : s.args) from_args |= nest_.body[static_cast<size_t>(a)].varies;
    switch (s.kind) {
      case Kind::Load:
      case Kind::LoadAt:
        for (const IndexedDim& d : s.indices) {
          require(d.statement >= 0 && static_cast<size_t>(d.statement) < at_, "an index is not defined before");
          require(nest_.body[static_cast<size_t>(d.statement)].dtype == DType::Int64, "an index is not int64");
          from_args |= nest_.body[static_cast<size_t>(d.statement)].varies;
        }
        require((s.kind == Kind::LoadAt) == !s.indices.empty(), "LoadAt has indices, Load has none");
        access(s.access, true);
        require(s.dtype == kernel_.buffers[static_cast<size_t>(s.access.buffer)].dtype, "not of its buffer's dtype");
        from_args |= crossed(s.access);
        break;
      case Kind::Constant:
        break;
      case Kind::Scalar:
        require(is_float(s.dtype), "a scalar parameter is floating");
        require(s.parameter >= 0 && s.parameter < kernel_.scalars, "no such scalar parameter");
        break;
      case Kind::Position:
        require(s.dtype == DType::Int64, "a position is int64");
        access(s.access, false);
        from_args |= crossed(s.access);
        break;
      case Kind::Random:
        require(s.parameter >= 0 && s.parameter < kernel_.randoms, "no such random parameter");
        require((s.distribution == Distribution::Bernoulli) == (s.dtype == DType::Bool), "Bernoulli values are bool");
        require(s.dtype == DType::Bool || is_float(s.dtype), "random values are floating or bool");
        require(s.threshold <= 65536, "a threshold is at most 65536");
        access(s.access, false);
        from_args |= crossed(s.access);
        break;
      case Kind::Formula: {
        const Op& op = op_of(s.op);
        require(op.kind == OpKind::Pointwise && op.formula, "its operator is not pointwise");
        require(s.args.size() == op.args.size() || s.args.size() <= 3, "too many arguments");
        require(s.compute == DType::Float32 || s.compute == DType::Float64 || s.compute == DType::Int64,
                "computes in float32, float64 or int64");
        break;
      }
      case Kind::Convert:
        require(s.args.size() == 1, "takes one argument");
        break;
      case Kind::Reduce:
        require(s.args.size() == 1, "takes one argument");
        reduce(s);
        from_args &= s.tree == Tree::Row ? ~last() : nest_.structure == Structure::Columns ? ~(last() >> 1) : last();
        break;
      case Kind::Store: {
        require(s.args.size() == 1, "takes one argument");
        access(s.access, true);
        const Buffer& b = kernel_.buffers[static_cast<size_t>(s.access.buffer)];
        require(b.written, "stores into a buffer that is not written");
        require(b.dtype == s.dtype && arg(0).dtype == s.dtype, "stores a value of another dtype");
        from_args |= crossed(s.access);
        break;
      }
    }
    if (s.kind == Kind::Store) stored_once(s);
    require((from_args & ~varies) == 0, "varies over less than what it is made of");
    follows_reduce(s);
  }

  // It varies over all dims of more than one position, but for those that a Reduce combines.
  void stored_once(const Statement& s) const {
    if (nest_.structure == Structure::RowsAndColumns && s.varies == last()) return;
    const uint32_t reduced = nest_.structure == Structure::Pointwise ? 0
                             : nest_.structure == Structure::Columns ? last() >> 1
                                                                     : last();
    for (size_t d = 0; d < rank_; ++d) {
      if ((s.varies >> d & 1) && nest_.dims[d] == 0) return;  // stores nothing
    }
    for (size_t d = 0; d < rank_; ++d) {
      require(nest_.dims[d] <= 1 || ((s.varies | reduced) >> d & 1), "stores into one element at several positions");
    }
  }

  // What the structure allows to depend on a Reduce.
  void follows_reduce(const Statement& s) {
    bool rows = false, columns = false;
    auto look = [&](int32_t a) {
      const size_t arg = static_cast<size_t>(a);
      const Statement& from = nest_.body[arg];
      rows = rows || after_rows_[arg] || (from.kind == Kind::Reduce && from.tree == Tree::Row);
      columns = columns || after_columns_[arg] || (from.kind == Kind::Reduce && from.tree == Tree::Column);
    };
    for (int32_t a : s.args) look(a);
    for (const IndexedDim& d : s.indices) look(d.statement);
    // What depends on a column sum runs after all rows.
    after_rows_.push_back(rows && !(s.kind == Kind::Reduce && s.tree == Tree::Column));
    after_columns_.push_back(columns);
    if (nest_.structure == Structure::SplitRows) {
      require(!rows || (s.kind != Kind::Reduce && !(s.varies & last())),
              "split rows need a second pass: it varies over the row, or reduces, and depends on a Reduce");
    } else if (nest_.structure == Structure::RowsAndColumns) {
      require(!columns || (s.kind != Kind::Reduce && (s.varies & ~last()) == 0 && !rows),
              "it depends on a column sum and on more than the last dim");
    }
  }

  void reduce(const Statement& s) const {
    const DType from = arg(0).dtype;
    require(is_float(from) == is_float(s.dtype) && (from == DType::Float64) == (s.dtype == DType::Float64),
            "combines in another type than its argument's");
    require(!(s.varies & last()) || s.tree == Tree::Column, "a Row reduction varies over the last dim");
    switch (nest_.structure) {
      case Structure::Pointwise:
      case Structure::Tile:
        return require(false, "a pointwise nest reduces");
      case Structure::Rows:
      case Structure::SplitRows:
        return require(s.tree == Tree::Row, "rows reduce by columns");
      case Structure::Columns:
        return require(s.tree == Tree::Column, "columns reduce by rows");
      case Structure::RowsAndColumns:
        return require(s.tree == Tree::Row || s.varies == last(), "it varies over more than the last dim");
    }
  }

  const Kernel& kernel_;
  const Nest& nest_;
  const size_t rank_;
  size_t at_ = 0;
  std::vector<bool> after_rows_, after_columns_;  // depends on a Reduce of that tree
};

bool is_identifier(const std::string& name) {
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::all_of(name.begin(), name.end(), [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
}

}  // namespace

void verify(const Kernel& kernel) {
  FUSELET_INTERNAL_CHECK(is_identifier(kernel.name), "a kernel's name is no identifier: " + kernel.name);
  for (const Stage& stage : kernel.stages) {
    for (const Nest& nest : stage.nests) NestVerifier(kernel, nest).run();
  }
}

}  // namespace fuselet::kernel
