// compile(f): f as compiled code.
//
//   auto step = fuselet::compile([&](const Tensor& x, const Tensor& y) {
//     optimizer.zero_grad();
//     Tensor loss = nn::functional::cross_entropy(model(x), y);
//     loss.backward();
//     optimizer.step();
//     return loss;
//   });
//   for (auto& [x, y] : loader) total += step(x, y).item();
//
// f takes and returns anything. Every call runs the code of f, but its operators only say what is to be computed: they
// are compared with what earlier calls asked for, and when f returns, code compiled for exactly this runs once. Then
// every tensor that outlives f, results, gradients, parameters, holds its value. Whatever f reads besides, globals,
// flags of modules, is read by f itself on every call, so it is never stale. Floating numbers given to operators are
// inputs of the compiled code; another path through f, shape or integer is another compilation.
//
// Error where f asks for an element (item(), to_vector(), printing) that it computes itself, and when f would be
// compiled more often than settings.recompile_limit.
#pragma once
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "compiler/match/call.h"

namespace fuselet {

template <class F>
class Compiled {
 public:
  Compiled(F f, CompileSettings settings)
      : f_(std::move(f)), function_(std::make_shared<match::Function>(std::move(settings))) {}

  // Copies share what has been compiled. Several threads may call at once.
  template <class... Args>
  auto operator()(Args&&... args) const {
    match::CallScope call(*function_);
    if constexpr (std::is_void_v<std::invoke_result_t<const F&, Args...>>) {
      std::invoke(f_, std::forward<Args>(args)...);
      call.finish();
    } else {
      auto result = std::invoke(f_, std::forward<Args>(args)...);
      call.finish();
      return result;
    }
  }
  Ledger ledger() const { return function_->ledger(); }
  // What the latest compilation left: every stage's value and time, kernels with their sources, what did not fuse and
  // why, bytes. Error before the first call.
  report::CompileReport report() const {
    std::vector<report::CompileReport> all = function_->reports();
    FUSELET_CHECK(!all.empty(), "report: '", settings().name, "' has not been called yet");
    return std::move(all.back());
  }
  const CompileSettings& settings() const { return function_->settings(); }

 private:
  F f_;
  std::shared_ptr<match::Function> function_;
};

template <class F>
Compiled<std::decay_t<F>> compile(F&& f, CompileSettings settings = {}) {
  return {std::forward<F>(f), std::move(settings)};
}

}  // namespace fuselet
