// The running recording: which value of the graph each tensor stands for.
//
// Tensors that share a storage form an alias group. A group has a base (the tensor that its value describes: the output
// of a node, or a lifted tensor) and a current value, which a write replaces. A view of the group is a value of its
// own; when the group has been written since, the view is taken again, as a strided view of the base, its offset
// counting from the base's first element. So nothing is written in place in the graph, and every reader sees what it
// would see in memory.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"
#include "core/dispatch.h"
#include "core/recording.h"

namespace fuselet::trace {

struct AliasGroup {
  StoragePtr storage;
  ir::ValueId value = -1;
  uint32_t generation = 0;
  TensorMeta base;
  SymInt offset = 0;   // of the base in the storage
  int32_t input = -1;  // of the graph, for a lifted storage
  bool written = false;
};

// A leaf whose `.grad` was replaced inside the recording, and what it was before.
struct ChangedGrad {
  Tensor leaf;
  TensorImplPtr before;
};

class Recorder final : public Recording {
 public:
  explicit Recorder(std::string name);
  uint64_t id() const override { return id_; }

  // The next tensor given to the recorded function.
  void add_argument(const Tensor& t);
  // A better name for a tensor that may be lifted.
  void name_tensor(const Tensor& t, std::string name) { names_[t.impl()->storage().get()] = std::move(name); }

  // An input without a tensor behind it, for stages that rebuild a graph: the deferred tensor that stands for it.
  Tensor add_input(ir::InputKind kind, const std::string& name, const TensorMeta& meta);
  // The same for memory that the recorded function may write: its writes are listed in the graph.
  Tensor add_stand_in(const std::string& name, const TensorMeta& meta);
  // Gives the next cell index to `cell`.
  void add_cell(const CellPtr& cell) { cell_ref(cell); }
  // While set, nodes take this origin instead of the thread's state.
  void set_origin(const ir::Origin* origin) { forced_origin_ = origin; }
  // While set, casts between float32 and 16-bit floats are boundaries (ir::Node::boundary).
  void mark_boundaries(bool on) { marks_boundaries_ = on; }

  // While set, the user's line is this one instead of the thread's.
  void set_line(const std::string* line) { forced_line_ = line; }

  // The value that `t` stands for now; lifts a tensor met for the first time.
  ir::ValueId value_of(const Tensor& t);
  // `t` is a new output of the node recorded last; `shares_storage` for a view.
  void define(const Tensor& t, ir::ValueId value, bool shares_storage);
  // `t` has been written: it stands for `value` from now on, and so does its part of the base.
  void write(const Tensor& t, ir::ValueId value);

  // Appends the call as a node; the outputs' metas are given.
  const ir::Node& add_node(const Call& call, std::vector<TensorMeta> metas);
  void record_advance(HostCell& cell, double by) override;
  void before_grad_change(TensorImpl& leaf) override;

  ir::Graph& graph() { return graph_; }
  std::vector<AliasGroup*> groups();
  const std::vector<Tensor>& lifted() const { return lifted_; }  // one an input
  const std::vector<ChangedGrad>& changed_grads() const { return changed_grads_; }
  // The input that a tensor met outside the recording was lifted to; lifts it if it is new.
  int32_t input_of(const Tensor& t) { return group_of(t).input; }
  const std::vector<CellPtr>& cells() const { return cells_; }
  // Nodes of the tape with a higher sequence number were made since the recording began.
  uint64_t tape_start() const { return tape_start_; }
  // Error if a cell has been set since the recording read it: the read happens when the graph runs, so it would see a
  // number that the function set afterwards.
  void check_cells() const;

 private:
  AliasGroup& group_of(const Tensor& t);
  SymInt offset_in(const AliasGroup& group, const Tensor& t) const;
  AliasGroup& lift(const Tensor& t, ir::InputKind kind, std::string name);
  ir::GraphArg graph_arg(const Arg& arg);
  ir::CellRef cell_ref(const CellPtr& cell);
  ir::Origin origin_here() const;

  uint64_t id_;
  uint64_t tape_start_;
  ir::Graph graph_;
  std::unordered_map<const Storage*, AliasGroup> groups_;
  std::vector<const Storage*> group_order_;
  std::unordered_map<const Storage*, std::string> names_;
  std::vector<Tensor> lifted_;
  std::vector<ChangedGrad> changed_grads_;
  std::vector<CellPtr> cells_;
  std::vector<double> first_read_;  // the value of each cell when it was met
  int32_t num_arguments_ = 0;
  const ir::Origin* forced_origin_ = nullptr;
  bool marks_boundaries_ = false;
  const std::string* forced_line_ = nullptr;
};

Recorder& current_recorder();
// Registers the functionalise and trace layers of dispatch.
void register_trace_layers();

// Switches this thread to a recorder, and back also when what is recorded throws.
class RecordingScope {
 public:
  explicit RecordingScope(Recorder& recorder)
      : recording_(&DispatchState::recording, &recorder),
        last_recorded_(&DispatchState::last_recorded, -1),
        functionalise_(Layer::Functionalise, true),
        trace_(Layer::Trace, true) {}

 private:
  StateGuard<Recording*> recording_;
  StateGuard<int32_t> last_recorded_;  // numbers of another recording's nodes mean nothing in this one
  LayerGuard functionalise_, trace_;
};

}  // namespace fuselet::trace
