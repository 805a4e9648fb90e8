#include "compiler/match/handles.h"

namespace fuselet::match {

SymInt Handles::offset_in_group(const Tensor& t, int32_t group) const {
  return group == num_groups() ? SymInt(0) : t.impl()->offset() - (*this)[first_of_group(group)].impl()->offset();
}

OutsideTensor Handles::describe(const Tensor& t) const {
  OutsideTensor o;
  int32_t known = group_of(t);
  o.group = known >= 0 ? known : num_groups();
  o.form = form_of(t);
  o.form.offset = offset_in_group(t, o.group);
  o.requires_grad = t.requires_grad();
  o.is_leaf = t.is_leaf();
  o.read_only = t.impl()->storage()->is_read_only();
  return o;
}

bool Handles::bind(const OutsideTensor& e, const Tensor& t) {
  TensorImpl* impl = t.impl();
  if (impl->dtype() != e.form.dtype || impl->is_deferred() || !same_sizes(impl->sizes(), e.form.sizes) ||
      !same_sizes(impl->strides(), e.form.strides) || impl->device() != e.form.device)
    return false;
  if (t.requires_grad() != e.requires_grad || t.is_leaf() != e.is_leaf) return false;
  if (impl->storage()->is_read_only() != e.read_only || find(t) != kUndefined) return false;
  int32_t known = group_of(t);
  int32_t group = known >= 0 ? known : num_groups();
  if (group != e.group || offset_in_group(t, group) != e.form.offset) return false;
  add_outside(t, group);
  return true;
}

void Handles::add_outside(const Tensor& t, int32_t group) {
  by_impl_.insert(t.impl(), size());
  if (group == num_groups()) {
    by_storage_.insert(t.impl()->storage().get(), group);
    group_first_.push_back(size());
  }
  groups_.push_back(group);
  roots_.push_back(kUndefined);
  tensors_.push_back(t);
}

void Handles::add_made(Tensor t, Handle root) {
  by_impl_.insert(t.impl(), size());
  groups_.push_back(-1);
  roots_.push_back(root);
  tensors_.push_back(std::move(t));
}

void Handles::add_absent() {
  groups_.push_back(-1);
  roots_.push_back(kUndefined);
  tensors_.emplace_back();
}

void Handles::truncate(Handle size_wanted) {
  while (size() > size_wanted) {
    Handle last = size() - 1;
    int32_t group = groups_.back();
    if (group >= 0 && first_of_group(group) == last) {
      by_storage_.erase((*this)[last].impl()->storage().get());
      group_first_.pop_back();
    }
    if ((*this)[last].defined()) by_impl_.erase((*this)[last].impl());
    groups_.pop_back();
    roots_.pop_back();
    tensors_.pop_back();
  }
}

void Handles::clear() {
  by_impl_.clear();
  by_storage_.clear();
  group_first_.clear();
  groups_.clear();
  roots_.clear();
  tensors_.clear();
}

}  // namespace fuselet::match
