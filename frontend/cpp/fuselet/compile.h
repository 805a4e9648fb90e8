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
// settings.pure says that results and effects of f depend on its arguments alone. Then a call whose arguments are like
// those of an earlier one (tensors of the same form, equal numbers and texts) does not run the code of f. Arguments and
// results must be tensors, numbers, texts, or pairs, tuples, vectors and optionals of these; otherwise, and where f
// reads host cells, the code runs on every call.
//
// Error where f asks for an element (item(), to_vector(), printing) that it computes itself, and when f would be
// compiled more often than settings.recompile_limit.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "compiler/match/call.h"
#include "fuselet/plain_values.h"

namespace fuselet {

template <class F>
class Compiled {
 public:
  Compiled(F f, CompileSettings settings) : f_(std::move(f)), state_(std::make_shared<State>(std::move(settings))) {}

  // Copies share what has been compiled. Several threads may call at once.
  template <class... Args>
  auto operator()(Args&&... args) const {
    using Result = std::invoke_result_t<const F&, Args...>;
    // A reference would outlive what it refers to.
    constexpr bool kPlain = (match::IsPlain<std::decay_t<Args>>::value && ...) && match::IsPlain<Result>::value;
    if constexpr (kPlain) {
      if (state_->function.settings().pure) return call_pure<Result>(std::forward<Args>(args)...);
    }
    match::CallScope call(state_->function);
    if constexpr (std::is_void_v<Result>) {
      std::invoke(f_, std::forward<Args>(args)...);
      call.finish();
    } else {
      auto result = std::invoke(f_, std::forward<Args>(args)...);
      call.finish();
      return result;
    }
  }
  Ledger ledger() const { return state_->function.ledger(); }
  // What the latest compilation left: every stage's value and time, kernels with their sources, what did not fuse and
  // why, bytes. Error before the first call.
  report::CompileReport report() const {
    std::vector<report::CompileReport> all = state_->function.reports();
    FUSELET_CHECK(!all.empty(), "report: '", settings().name, "' has not been called yet");
    return std::move(all.back());
  }
  const CompileSettings& settings() const { return state_->function.settings(); }

 private:
  // A call of a pure function: what it was given and gave, tensors left out of both, and the way between.
  struct PureCall {
    match::PlainValues arguments;
    std::shared_ptr<void> result;
    match::Shortcut shortcut;
  };
  struct State {
    explicit State(CompileSettings settings) : function(std::move(settings)) {}
    match::Function function;
    std::mutex mutex;
    std::vector<std::shared_ptr<const PureCall>> pure_calls;
    size_t next = 0;
  };
  // Beyond, the oldest goes.
  static constexpr size_t kMostPureCalls = 16;

  template <class Result, class... Args>
  Result call_pure(Args&&... args) const {
    match::PlainValues given;
    given.words.push_back(typeid(std::tuple<std::decay_t<Args>...>).hash_code());
    (match::for_each_leaf(given, std::as_const(args)), ...);
    std::vector<Tensor> tensors;
    for (size_t i = 0; std::shared_ptr<const PureCall> known = pure_call(i); ++i) {
      if (!known->arguments.same_but_tensors(given)) continue;
      if (!match::follow_shortcut(state_->function, known->shortcut, given.tensors, &tensors)) continue;
      Result result = *static_cast<const Result*>(known->result.get());
      match::ReplaceTensors fill{tensors.data()};
      match::for_each_leaf(fill, result);
      return result;
    }
    match::CallScope call(state_->function);
    Result result = std::invoke(f_, std::forward<Args>(args)...);
    match::PlainValues made;
    match::for_each_leaf(made, std::as_const(result));
    auto noted = std::make_shared<PureCall>();
    noted->shortcut = call.finish_with_shortcut(given.tensors, made.tensors);
    if (!noted->shortcut.program) return result;
    auto form = std::make_shared<Result>(result);
    // Any defined tensor keeps the place.
    std::vector<Tensor> places(made.tensors.size(),
                               Tensor(make_intrusive<TensorImpl>(make_intrusive<Storage>(Storage::Deferred{}, Device{}),
                                                                 Dims{}, Dims{}, 0, DType::Float32)));
    match::ReplaceTensors empty{places.data()};
    match::for_each_leaf(empty, *form);
    given.tensors.clear();
    noted->arguments = std::move(given);
    noted->result = std::move(form);
    remember(std::move(noted));
    return result;
  }

  std::shared_ptr<const PureCall> pure_call(size_t i) const {
    std::lock_guard lock(state_->mutex);
    return i < state_->pure_calls.size() ? state_->pure_calls[i] : nullptr;
  }
  void remember(std::shared_ptr<const PureCall> call) const {
    std::lock_guard lock(state_->mutex);
    if (state_->pure_calls.size() < kMostPureCalls) return state_->pure_calls.push_back(std::move(call));
    state_->pure_calls[state_->next] = std::move(call);
    state_->next = (state_->next + 1) % kMostPureCalls;
  }

  F f_;
  std::shared_ptr<State> state_;
};

template <class F>
Compiled<std::decay_t<F>> compile(F&& f, CompileSettings settings = {}) {
  return {std::forward<F>(f), std::move(settings)};
}

}  // namespace fuselet
