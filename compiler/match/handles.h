// The tensors of one call of a compiled function, by handle.
#pragma once
#include <vector>

#include "compiler/match/pointer_map.h"
#include "compiler/match/step.h"

namespace fuselet::match {

class Handles {
 public:
  Handle size() const { return static_cast<Handle>(tensors_.size()); }
  const Tensor& operator[](Handle h) const { return tensors_[static_cast<size_t>(h)]; }
  // kUndefined if the call has not met it.
  Handle find(const Tensor& t) const { return by_impl_.find(t.impl()); }
  // The tensor's group, or kUndefined if its memory is new to the call.
  int32_t group_of(const Tensor& t) const { return by_storage_.find(t.impl()->storage().get()); }
  int32_t num_groups() const { return static_cast<int32_t>(group_first_.size()); }
  Handle first_of_group(int32_t group) const { return group_first_[static_cast<size_t>(group)]; }

  // Describes a tensor that the call meets now for the first time.
  OutsideTensor describe(const Tensor& t) const;
  // True iff `t` is new to the call and as described; then it takes the next handle.
  bool bind(const OutsideTensor& expected, const Tensor& t);
  void add_outside(const Tensor& t, int32_t group);
  // `root`: whose memory it is, itself or another tensor that the call made; kUndefined for a view of memory from
  // outside.
  void add_made(Tensor t, Handle root);
  // A handle that nobody asks for.
  void add_absent();
  // kUndefined also for a tensor from outside.
  Handle root_of(Handle h) const { return roots_[static_cast<size_t>(h)]; }
  // Forgets the handles from `size` on.
  void truncate(Handle size);
  void clear();

 private:
  SymInt offset_in_group(const Tensor& t, int32_t group) const;

  std::vector<Tensor> tensors_;
  std::vector<int32_t> groups_;      // by handle; -1 for a tensor that the call made
  std::vector<Handle> roots_;        // by handle
  std::vector<Handle> group_first_;  // by group
  PointerMap by_impl_, by_storage_;
};

}  // namespace fuselet::match
