// ModuleDict: modules of one type under names. ParameterList: parameters named "0", "1", … Copies of either share what
// they hold.
#pragma once
#include "frontend/cpp/nn/module.h"

namespace fuselet::nn {

template <class Layer>
class ModuleDict : public Module {
 public:
  using Entries = std::vector<std::pair<std::string, Layer>>;

  ModuleDict() : Module("ModuleDict") {}
  // Error for a name that is taken, empty or contains a dot.
  ModuleDict& insert(const std::string& name, Layer layer) {
    register_module(name, layer);
    entries_->emplace_back(name, std::move(layer));
    return *this;
  }
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  // Error for a name that is not there.
  Layer& operator[](std::string_view name) {
    Layer* found = find(name);
    FUSELET_CHECK(found, "ModuleDict has no module '", name, "'");
    return *found;
  }
  size_t size() const { return entries_->size(); }
  // Pairs of name and module, in the order of insertion.
  auto begin() { return entries_->begin(); }
  auto end() { return entries_->end(); }

 private:
  Layer* find(std::string_view name) const {
    for (auto& [own, layer] : *entries_) {
      if (own == name) return &layer;
    }
    return nullptr;
  }

  std::shared_ptr<Entries> entries_ = std::make_shared<Entries>();
};

class ParameterList : public Module {
 public:
  explicit ParameterList(const std::vector<Tensor>& values = {});
  ParameterList& push_back(Tensor value);
  size_t size() const { return *size_; }
  // Error outside the list.
  const Tensor& operator[](size_t i) const { return parameter(std::to_string(i)); }

 private:
  std::shared_ptr<size_t> size_ = std::make_shared<size_t>(0);
};

}  // namespace fuselet::nn
