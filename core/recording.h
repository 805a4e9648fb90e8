// What core and autograd know of a running recording (compiler/trace/recorder.h has the rest) and of a running call of
// a compiled function (compiler/match/call.h).
#pragma once
#include <cstdint>
#include <vector>

#include "core/host_cell.h"

namespace fuselet {
class Tensor;
class TensorImpl;
}  // namespace fuselet

namespace fuselet {

class Recording {
 public:
  virtual ~Recording() = default;
  // Numbers are never used again.
  virtual uint64_t id() const = 0;
  // A host cell was advanced inside the recording: takes effect when the recording runs, and again on each replay.
  virtual void record_advance(HostCell& cell, double by) = 0;
  // The `.grad` of a leaf is about to be replaced inside the recording.
  virtual void before_grad_change(TensorImpl& leaf) = 0;
};

// While the code of a compiled function runs, nothing executes: what it asks of tensors besides operators comes here,
// is compared with what was recorded, and takes effect when the compiled code has run.
class CompiledCall {
 public:
  virtual ~CompiledCall() = default;
  virtual void backward(const std::vector<Tensor>& outputs, const std::vector<Tensor>& grads, bool retain_graph,
                        bool create_graph) = 0;
  virtual std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                                   const std::vector<Tensor>& grads, bool retain_graph, bool create_graph,
                                   bool allow_unused) = 0;
  virtual void set_grad(const Tensor& t, const Tensor& grad) = 0;
  virtual void set_requires_grad(const Tensor& t, bool on) = 0;
  // Cells change at once; if the call fails, they take their old value again.
  virtual void before_cell_change(HostCell& cell) = 0;
  // NotImplementedError if the elements of `t` are not in memory yet.
  virtual void before_read(const Tensor& t) = 0;
  // Draws that the call has passed and will take from the default generator when it runs.
  virtual uint64_t pending_draws() const = 0;
  // NotImplementedError for what a compiled function cannot hold yet.
  [[noreturn]] virtual void refuse(const char* what) = 0;
};

}  // namespace fuselet
