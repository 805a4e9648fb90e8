#include "frontend/python/run_operator.h"

#include "core/dispatch.h"
#include "frontend/python/gil.h"
#include "frontend/python/tensor_object.h"
#include "frontend/python/user_line.h"

namespace fuselet::python {
namespace {

int64_t elements_to_make(const Call& call) {
  if (call.op->kind != OpKind::Factory && call.op->kind != OpKind::Random && call.op->kind != OpKind::Composite)
    return 0;
  for (int i = 0; i < call.num_args; ++i) {
    if (call.args[i].tag != Arg::Tag::Ints) continue;
    int64_t n = 1;
    for (SymInt d : call.ints(i)) n *= d.is_symbolic() ? 1 : d.word();
    return n;
  }
  // arange has no list of sizes: its own length is not worth computing twice.
  return call.op->kind == OpKind::Factory ? kElementsWorthReleasing + 1 : 0;
}

bool is_worth_releasing(const Call& call) {
  int64_t least = call.op->kind == OpKind::Contraction ? kContractionElementsWorthReleasing : kElementsWorthReleasing;
  if (call.op->kind == OpKind::View) return false;
  int64_t most = 0;
  for_each_tensor(call, [&](const Tensor& t) {
    SymInt n = t.impl()->numel();
    if (!n.is_symbolic() && n.word() > most) most = n.word();
  });
  return most > least || elements_to_make(call) > kElementsWorthReleasing;
}

bool may_record(const Call& call) {
  if (!dispatch_state().grad_enabled && !dispatch_state().recording) return false;
  bool any = dispatch_state().recording != nullptr;
  for_each_tensor(call, [&](const Tensor& t) { any = any || t.impl()->autograd(); });
  return any;
}

const Location kPythonLine = Location::current();

// The in-place form of a composite is the composite and a copy.
PyObject* write_composite(const Op& op, Arg* args, int count) {
  Tensor result, self = *args[0].tensor;
  Call call{&op, args, count, &result, 1, false, nullptr};
  run_call(call);
  Arg copy_args[] = {Arg(self), Arg(result)};
  return run_and_wrap(op_of(OpId::copy), copy_args, 2, true);
}

}  // namespace

void run_call(Call& call) {
  call.line = &kPythonLine;
  // Inside a compiled function nothing executes.
  if (dispatch_state().compiled_call || !is_worth_releasing(call)) return dispatch(call);
  CapturedLine line(may_record(call));
  // Handles of their own for the time without the lock: the garbage collector judges an object by whether C++ holds its
  // tensor too, and that must not change under it.
  std::vector<Tensor> held;
  for_each_tensor(call, [&](const Tensor& t) { held.push_back(t); });
  GilRelease release;
  dispatch(call);
}

PyObject* run_and_wrap(const Op& op, Arg* args, int count, bool in_place) {
  constexpr int kFewOutputs = 4;
  if (in_place && op.composite) return write_composite(op, args, count);
  Call call{&op, args, count, nullptr, 0, in_place, nullptr};
  call.num_outs = op.num_returns == 1 && !in_place ? 1 : count_outputs(call);
  if (in_place && op.num_returns == 1 && call.num_outs < 1) call.num_outs = 1;
  Tensor few[kFewOutputs];
  std::vector<Tensor> many;
  if (call.num_outs > kFewOutputs) many.resize(static_cast<size_t>(call.num_outs));
  call.outs = many.empty() ? few : many.data();
  if (in_place) {
    std::vector<Tensor> targets = mutated_tensors(call);
    std::copy(targets.begin(), targets.end(), call.outs);
  }
  run_call(call);
  int returns = op.num_returns, first = call.num_outs - returns;
  if (returns == 0) Py_RETURN_NONE;
  if (returns == 1) return wrap(call.outs[first]);
  PyObject* tuple = PyTuple_New(returns);
  for (int i = 0; i < returns; ++i) PyTuple_SET_ITEM(tuple, i, wrap(call.outs[first + i]));
  return tuple;
}

}  // namespace fuselet::python
