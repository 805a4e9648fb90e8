#include "tests/kernel_builder.h"

#include "core/ops/functions.h"

namespace fuselet::test {

using kernel::Kind;
using kernel::Statement;

namespace {
Statement statement(Kind kind, DType dtype) {
  Statement s{};
  s.kind = kind;
  s.dtype = dtype;
  return s;
}
}  // namespace

NestBuilder::NestBuilder(kernel::Structure structure, std::vector<int64_t> dims) {
  nest.structure = structure;
  nest.dims = std::move(dims);
}

uint32_t NestBuilder::crossed(const Strides& strides) const {
  uint32_t mask = 0;
  for (size_t d = 0; d < strides.size(); ++d) mask |= strides[d] != 0 ? 1u << d : 0;
  return mask;
}

int NestBuilder::add(Statement s) {
  for (int32_t a : s.args) s.varies |= nest.body[static_cast<size_t>(a)].varies;
  for (const auto& d : s.indices) s.varies |= nest.body[static_cast<size_t>(d.statement)].varies;
  s.varies |= crossed(s.access.strides);
  nest.body.push_back(std::move(s));
  return static_cast<int>(nest.body.size()) - 1;
}

int NestBuilder::load(int buffer, DType dtype, Strides strides, int64_t offset) {
  Statement s = statement(Kind::Load, dtype);
  s.access = {buffer, offset, std::move(strides)};
  return add(s);
}
int NestBuilder::load_at(int buffer, DType dtype, Strides strides, std::vector<kernel::IndexedDim> indices) {
  Statement s = statement(Kind::LoadAt, dtype);
  s.access = {buffer, 0, std::move(strides)};
  s.indices = std::move(indices);
  return add(s);
}
int NestBuilder::constant(double value, DType dtype) {
  Statement s = statement(Kind::Constant, dtype);
  s.number = value;
  s.integer = static_cast<int64_t>(value);
  return add(s);
}
int NestBuilder::scalar(int parameter, DType dtype) {
  Statement s = statement(Kind::Scalar, dtype);
  s.parameter = parameter;
  return add(s);
}
int NestBuilder::position(Strides strides, int64_t offset) {
  Statement s = statement(Kind::Position, DType::Int64);
  s.access = {-1, offset, std::move(strides)};
  return add(s);
}
int NestBuilder::random(int parameter, kernel::Distribution distribution, DType dtype, Strides strides,
                        uint32_t threshold) {
  Statement s = statement(Kind::Random, dtype);
  s.access = {-1, 0, std::move(strides)};
  s.parameter = parameter;
  s.distribution = distribution;
  s.threshold = threshold;
  return add(s);
}
int NestBuilder::formula(const char* op, std::vector<int> args, DType dtype, DType compute) {
  Statement s = statement(Kind::Formula, dtype);
  s.op = find_op(op)->id;
  s.compute = compute;
  s.args.assign(args.begin(), args.end());
  s.note = std::string(op) + ", by hand";
  return add(s);
}
int NestBuilder::convert(int arg, DType dtype) {
  Statement s = statement(Kind::Convert, dtype);
  s.args = {arg};
  return add(s);
}
int NestBuilder::reduce(kernel::Combine combine, int arg) {
  const bool columns = nest.structure == kernel::Structure::Columns;
  const Statement& from = nest.body[static_cast<size_t>(arg)];
  Statement s = statement(Kind::Reduce, from.dtype);
  s.args = {arg};
  s.combine = combine;
  s.tree = columns ? kernel::Tree::Column : kernel::Tree::Row;
  s.varies = from.varies & ~(1u << (nest.dims.size() - (columns ? 2 : 1)));
  nest.body.push_back(s);
  return static_cast<int>(nest.body.size()) - 1;
}
int NestBuilder::column_sum(kernel::Combine combine, int arg) {
  Statement s = statement(Kind::Reduce, nest.body[static_cast<size_t>(arg)].dtype);
  s.args = {arg};
  s.combine = combine;
  s.tree = kernel::Tree::Column;
  s.varies = 1u << (nest.dims.size() - 1);
  nest.body.push_back(s);
  return static_cast<int>(nest.body.size()) - 1;
}
int NestBuilder::store(int buffer, int arg, Strides strides, int64_t offset) {
  Statement s = statement(Kind::Store, nest.body[static_cast<size_t>(arg)].dtype);
  s.access = {buffer, offset, std::move(strides)};
  s.args = {arg};
  return add(s);
}

kernel::Kernel make_kernel(const char* name, std::vector<kernel::Buffer> buffers, std::vector<kernel::Nest> nests,
                           int scalars, int randoms) {
  kernel::Kernel k;
  k.name = name;
  k.buffers = std::move(buffers);
  k.scalars = scalars;
  k.randoms = randoms;
  k.stages = {{std::move(nests)}};
  return k;
}

int launch(const CompiledKernel& compiled, const kernel::Kernel& kernel, const KernelRun& run) {
  std::vector<void*> pointers;
  for (const Tensor& t : run.buffers) pointers.push_back(t.impl()->data());
  std::vector<char> scratch(static_cast<size_t>(target_of(DeviceType::CPU).scratch_bytes(kernel)) + 64);
  void* aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64);
  return compiled.launch(pointers.data(), run.scalars.data(), run.draws.data(), aligned);
}
int launch(const kernel::Kernel& kernel, const KernelRun& run) {
  kernel::verify(kernel);
  auto compiled = target_of(DeviceType::CPU).compile({&kernel, 1});
  return launch(*compiled[0], kernel, run);
}

}  // namespace fuselet::test
