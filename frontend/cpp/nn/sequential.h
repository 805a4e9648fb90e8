// Sequential: modules run one after another, named "0", "1", …
// ModuleList: modules of one type, registered in order, for a forward that loops over them.
#pragma once
#include "frontend/cpp/nn/module.h"

namespace fuselet::nn {

class Sequential : public Module {
 public:
  template <class... Layers>
  requires(std::is_base_of_v<Module, Layers>&&...) explicit Sequential(Layers... layers) : Module("Sequential") {
    (push_back(std::move(layers)), ...);
  }

  template <class Layer>
  requires std::is_base_of_v<Module, Layer> Sequential& push_back(Layer layer) {
    register_module(std::to_string(layers_->size()), layer);
    layers_->push_back(std::make_shared<Layer>(std::move(layer)));
    return *this;
  }
  Tensor forward(const Tensor& input) override;
  size_t size() const { return layers_->size(); }

 private:
  // Shared by the copies of this handle, as the registered modules are.
  std::shared_ptr<std::vector<std::shared_ptr<Module>>> layers_ =
      std::make_shared<std::vector<std::shared_ptr<Module>>>();
};

template <class Layer>
class ModuleList : public Module {
 public:
  ModuleList() : Module("ModuleList") {}
  ModuleList& push_back(Layer layer) {
    layers_->push_back(register_module(std::to_string(layers_->size()), std::move(layer)));
    return *this;
  }
  size_t size() const { return layers_->size(); }
  Layer& operator[](size_t i) { return (*layers_)[i]; }
  auto begin() { return layers_->begin(); }
  auto end() { return layers_->end(); }

 private:
  std::shared_ptr<std::vector<Layer>> layers_ = std::make_shared<std::vector<Layer>>();
};

}  // namespace fuselet::nn
