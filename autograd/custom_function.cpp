#include "autograd/custom_function.h"

#include "autograd/grad_node.h"
#include "core/dispatch_state.h"
#include "core/recording.h"

namespace fuselet {
namespace {

class CustomNode final : public GradNode {
 public:
  CustomNode(std::string name, CustomBackward backward, std::function<void()> released)
      : name_(std::move(name)), backward_(std::move(backward)), released_(std::move(released)) {}
  std::string name() const override { return name_; }

  std::vector<Tensor> apply(std::vector<Tensor> grads) override {
    std::vector<Tensor> out = backward_(std::move(grads));
    FUSELET_CHECK(out.size() == edges.size(), name_, ": backward gave ", out.size(), " gradients for ", edges.size(),
                  " inputs");
    for (size_t i = 0; i < out.size(); ++i) {
      if (!out[i].defined()) continue;
      FUSELET_CHECK(same_sizes(out[i].sizes(), input_sizes_[i]), name_, ": backward gave a gradient of shape ",
                    to_string(out[i].sizes()), " for input ", i, " of shape ", to_string(input_sizes_[i]));
      if (out[i].dtype() != input_dtypes_[i]) out[i] = out[i].cast(input_dtypes_[i]);
    }
    return out;
  }
  void release_saved() override {
    if (released_) released_();
  }

  std::vector<Dims> input_sizes_;
  std::vector<DType> input_dtypes_;

 private:
  std::string name_;
  CustomBackward backward_;
  std::function<void()> released_;
};

}  // namespace

void record_custom_function(const std::string& name, const std::vector<Tensor>& inputs,
                            const std::vector<Tensor>& outputs, CustomBackward backward,
                            std::function<void()> released) {
  if (!dispatch_state().grad_enabled) return;
  if (CompiledCall* call = dispatch_state().compiled_call) call->refuse("a function with a backward of its own");
  auto node = make_intrusive<CustomNode>(name, std::move(backward), std::move(released));
  bool any = false;
  for (const Tensor& t : inputs) {
    node->edges.push_back(gradient_edge(t));
    node->input_sizes_.emplace_back(t.sizes());
    node->input_dtypes_.push_back(t.dtype());
    any = any || node->edges.back().exists();
  }
  if (!any) return;
  node->num_outputs = static_cast<uint32_t>(outputs.size());
  node->line = current_line();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (is_float(outputs[i].dtype())) set_history(outputs[i], node, static_cast<uint32_t>(i));
  }
}

}  // namespace fuselet
