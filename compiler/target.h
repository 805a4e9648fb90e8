// What the compiler asks of a backend: source for a kernel, and functions to launch. A backend registers one target for
// its device type.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/kernel.h"
#include "core/generator.h"

namespace fuselet {

// Runs a kernel: one pointer a buffer, the scalars, one seed and draw number a random parameter, and scratch memory of
// Target::scratch_bytes, aligned to 64 bytes. Returns 0, or 1 + the number (over all nests, in order) of the LoadAt
// that met an index out of range. `context` is CompiledKernel::context.
using KernelFunction = int (*)(const void* context, void* const* buffers, const double* scalars,
                               const GeneratorState* randoms, void* scratch);

enum class KernelOrigin : uint8_t { Compiled, MemoryCache, DiskCache, Interpreted };
const char* name_of(KernelOrigin origin);

// A kernel that can be launched, from any thread; shared by all executables that need it.
struct CompiledKernel {
  KernelFunction function = nullptr;
  const void* context = nullptr;
  std::string source;
  std::shared_ptr<void> owner;  // keeps function and context alive
  KernelOrigin origin = KernelOrigin::Compiled;
  double milliseconds = 0;  // that the compiler took
  std::string remark;       // why it is interpreted or not cached; empty: nothing to say

  int launch(void* const* buffers, const double* scalars, const GeneratorState* randoms, void* scratch) const {
    return function(context, buffers, scalars, randoms, scratch);
  }
};

class Target {
 public:
  virtual ~Target() = default;
  virtual const char* name() const = 0;
  // Memory beside the buffers that a launch needs.
  virtual int64_t scratch_bytes(const kernel::Kernel& kernel) const = 0;
  virtual std::string emit(const kernel::Kernel& kernel) const = 0;
  // What this thread's launches are put in order by: two with one number run one after the other.
  virtual uint64_t current_queue(Device) const { return 0; }
  // Whether products of 16-bit floats run faster on these than on their float32 copies.
  virtual bool multiplies_halves() const { return false; }
  // Whether run_with_post_work serves the node.
  virtual bool takes_post_work(const ir::Graph&, const ir::Node&) const { return false; }
  // Runs the call's kernel into call.outs. `post_work` is called, by any thread, for each part of the result, taken as
  // rows of its last dimension, as soon as it is finished; parts cover the result and do not overlap.
  virtual void run_with_post_work(const Call& call, const std::function<void(const kernel::TileRange&)>& post_work) {
    (void)call, (void)post_work;
    throw InternalError("the target takes no post work", __FILE__, __LINE__);
  }
  // One result a kernel. What no cache holds is compiled, several at a time.
  virtual std::vector<std::shared_ptr<const CompiledKernel>> compile(std::span<const kernel::Kernel> kernels) = 0;
};

// Error if the device type has no target.
Target& target_of(DeviceType type);
void register_target(DeviceType type, Target* target);

}  // namespace fuselet
