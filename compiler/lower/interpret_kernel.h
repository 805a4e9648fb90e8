// Runs a kernel without compiling it: statement by statement, each for all positions of the dims that it varies over,
// Stores last. Slow, direct, and independent of how emitters order things.
//
// The arithmetic says how numbers round. It has, for values held as Value:
//   Value constant(const Statement&), scalar(double, DType), load(DType, const void* data, int64_t element)
//   void store(DType, void* data, int64_t element, Value)
//   Value convert(Value, DType from, DType to)
//   Value formula(const Statement&, const Value* args): args are of dtype `compute`, and so is the result
//   Value random(const Statement&, GeneratorState, uint64_t element)
//   Value reduce(const Statement&, DType accumulator, const std::vector<Value>&): in order
#pragma once
#include <algorithm>
#include <vector>

#include "compiler/lower/kernel.h"
#include "core/generator.h"

namespace fuselet::kernel {

// A float of any dtype in `number`; an integer, or 0 and 1 for bool, in `integer`.
struct Value {
  double number = 0;
  int64_t integer = 0;
};

// The dtype of the same kind that holds everything: what a value of dtype t is held as.
inline DType held_dtype(DType t) {
  if (t == DType::Bool || t == DType::Float64) return t;
  return is_float(t) ? DType::Float32 : DType::Int64;
}

struct KernelArguments {
  void* const* buffers;
  const double* scalars;
  const GeneratorState* randoms;
};

template <class Arithmetic>
class NestInterpreter {
 public:
  NestInterpreter(const Arithmetic& arithmetic, const Nest& nest, const KernelArguments& arguments, int first_load_at)
      : arithmetic_(arithmetic), nest_(nest), arguments_(arguments), first_load_at_(first_load_at) {}

  // 0, or 1 + the smallest number of a LoadAt that met an index out of range.
  int run() {
    if ((nest_.structure == Structure::Pointwise || nest_.structure == Structure::Tile) &&
        std::count(nest_.dims.begin(), nest_.dims.end(), 0))
      return 0;
    values_.resize(nest_.body.size());
    for (bool stores : {false, true}) {
      int load_ats = first_load_at_;
      for (size_t i = 0; i < nest_.body.size(); ++i) {
        const Statement& s = nest_.body[i];
        const int number = 1 + load_ats;
        load_ats += s.kind == Kind::LoadAt;
        if ((s.kind == Kind::Store) != stores) continue;
        if (!stores) values_[i].reserve(static_cast<size_t>(positions(s.varies)));
        for_each_position(s.varies, [&](const Place& at) {
          if (stores)
            store(s, at);
          else
            values_[i].push_back(value(s, at, number));
        });
      }
    }
    return failed_;
  }

 private:
  using Place = std::vector<int64_t>;

  int64_t positions(uint32_t dims) const {
    int64_t n = 1;
    for (size_t d = 0; d < nest_.dims.size(); ++d) n *= dims >> d & 1 ? nest_.dims[d] : 1;
    return n;
  }

  // In row-major order; the other coordinates are 0.
  template <class F>
  void for_each_position(uint32_t dims, F&& f, Place at = {}) const {
    at.resize(nest_.dims.size());
    for (int64_t n = positions(dims); n > 0; --n) {
      f(at);
      for (size_t d = nest_.dims.size(); d-- > 0;) {
        if (!(dims >> d & 1)) continue;
        if (++at[d] < nest_.dims[d]) break;
        at[d] = 0;
      }
    }
  }

  const Value& of(int32_t statement, const Place& at) const {
    const uint32_t varies = nest_.body[static_cast<size_t>(statement)].varies;
    int64_t index = 0;
    for (size_t d = 0; d < at.size(); ++d) {
      if (varies >> d & 1) index = index * nest_.dims[d] + at[d];
    }
    return values_[static_cast<size_t>(statement)][static_cast<size_t>(index)];
  }
  DType dtype_of(int32_t statement) const { return nest_.body[static_cast<size_t>(statement)].dtype; }

  static int64_t element(const Access& a, const Place& at) {
    int64_t element = a.offset;
    for (size_t d = 0; d < at.size(); ++d) element += at[d] * a.strides[d];
    return element;
  }

  void store(const Statement& s, const Place& at) const {
    arithmetic_.store(s.dtype, arguments_.buffers[s.access.buffer], element(s.access, at), of(s.args[0], at));
  }

  Value load_at(const Statement& s, const Place& at, int number) {
    int64_t where = element(s.access, at);
    for (const IndexedDim& d : s.indices) {
      int64_t index = of(d.statement, at).integer;
      if (index < 0) index += d.size;
      if (index < 0 || index >= d.size) {
        failed_ = failed_ == 0 ? number : std::min(failed_, number);
        return {};
      }
      where += index * d.stride;
    }
    return arithmetic_.load(s.dtype, arguments_.buffers[s.access.buffer], where);
  }

  Value reduce(const Statement& s, const Place& at) const {
    const uint32_t last = 1u << (nest_.dims.size() - 1);
    const uint32_t reduced = s.tree == Tree::Row ? last : nest_.structure == Structure::Columns ? last >> 1 : last - 1;
    const DType from = dtype_of(s.args[0]), accumulator = s.dtype == DType::Bool ? DType::Int64 : held_dtype(s.dtype);
    std::vector<Value> terms;
    for_each_position(
        reduced,
        [&](const Place& place) { terms.push_back(arithmetic_.convert(of(s.args[0], place), from, accumulator)); }, at);
    return arithmetic_.convert(arithmetic_.reduce(s, accumulator, terms), accumulator, s.dtype);
  }

  Value value(const Statement& s, const Place& at, int number) {
    switch (s.kind) {
      case Kind::Load:
        return arithmetic_.load(s.dtype, arguments_.buffers[s.access.buffer], element(s.access, at));
      case Kind::LoadAt:
        return load_at(s, at, number);
      case Kind::Constant:
        return arithmetic_.constant(s);
      case Kind::Scalar:
        return arithmetic_.scalar(arguments_.scalars[s.parameter], s.dtype);
      case Kind::Position:
        return {0, element(s.access, at)};
      case Kind::Random:
        return arithmetic_.random(s, arguments_.randoms[s.parameter], static_cast<uint64_t>(element(s.access, at)));
      case Kind::Formula: {
        Value args[8];
        for (size_t k = 0; k < s.args.size(); ++k) {
          args[k] = arithmetic_.convert(of(s.args[k], at), held_dtype(dtype_of(s.args[k])), s.compute);
        }
        return arithmetic_.convert(arithmetic_.formula(s, args), s.compute, s.dtype);
      }
      case Kind::Convert:
        return arithmetic_.convert(of(s.args[0], at), held_dtype(dtype_of(s.args[0])), s.dtype);
      case Kind::Reduce:
        return reduce(s, at);
      case Kind::Store:
        break;
    }
    return {};
  }

  const Arithmetic& arithmetic_;
  const Nest& nest_;
  const KernelArguments& arguments_;
  const int first_load_at_;
  int failed_ = 0;
  std::vector<std::vector<Value>> values_;
};

// As KernelFunction returns.
template <class Arithmetic>
int interpret(const Arithmetic& arithmetic, const Kernel& kernel, const KernelArguments& arguments) {
  int failed = 0, load_ats = 0;
  for (const Stage& stage : kernel.stages) {
    for (const Nest& nest : stage.nests) {
      const int number = NestInterpreter<Arithmetic>(arithmetic, nest, arguments, load_ats).run();
      if (number && (!failed || number < failed)) failed = number;
      for (const Statement& s : nest.body) load_ats += s.kind == Kind::LoadAt;
    }
  }
  return failed;
}

}  // namespace fuselet::kernel
