// Kernels of the kernel IR by hand, and their runs on tensors.
#pragma once
#include <string>
#include <vector>

#include "compiler/lower/kernel.h"
#include "compiler/target.h"
#include "core/tensor.h"

namespace fuselet::test {

// A nest's body, statement by statement; each call returns the statement's number. `varies` follows from strides and
// arguments.
class NestBuilder {
 public:
  using Strides = std::vector<int64_t>;
  NestBuilder(kernel::Structure structure, std::vector<int64_t> dims);

  int load(int buffer, DType dtype, Strides strides, int64_t offset = 0);
  int load_at(int buffer, DType dtype, Strides strides, std::vector<kernel::IndexedDim> indices);
  int constant(double value, DType dtype = DType::Float32);
  int scalar(int parameter, DType dtype = DType::Float32);
  int position(Strides strides, int64_t offset = 0);
  int random(int parameter, kernel::Distribution distribution, DType dtype, Strides strides, uint32_t threshold = 0);
  int formula(const char* op, std::vector<int> args, DType dtype = DType::Float32, DType compute = DType::Float32);
  int convert(int arg, DType dtype);
  int reduce(kernel::Combine combine, int arg);      // rows, or columns in Columns
  int column_sum(kernel::Combine combine, int arg);  // of RowsAndColumns
  int store(int buffer, int arg, Strides strides, int64_t offset = 0);

  kernel::Nest nest;

 private:
  int add(kernel::Statement s);
  uint32_t crossed(const Strides& strides) const;
};

// A kernel of one stage.
kernel::Kernel make_kernel(const char* name, std::vector<kernel::Buffer> buffers, std::vector<kernel::Nest> nests,
                           int scalars = 0, int randoms = 0);

struct KernelRun {
  std::vector<Tensor> buffers;
  std::vector<double> scalars = {};
  std::vector<GeneratorState> draws = {};
};
// Compiles for the CPU, verified, and launches; returns what the launch returns.
int launch(const kernel::Kernel& kernel, const KernelRun& run);
int launch(const CompiledKernel& compiled, const kernel::Kernel& kernel, const KernelRun& run);

}  // namespace fuselet::test
