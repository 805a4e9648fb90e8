#include "backends/cuda/eager/operator_key.h"

#include <algorithm>

#include "backends/cuda/temporaries.h"

namespace fuselet::cuda {
namespace {

class KeyWriter {
 public:
  explicit KeyWriter(Device device) : device_(device) {}

  void put(const void* data, size_t bytes) { key_.text.append(static_cast<const char*>(data), bytes); }
  template <class T>
  void put(T value) {
    put(&value, sizeof value);
  }

  void dims(DimsView v) {
    put(static_cast<uint8_t>(v.size()));
    for (SymInt s : v) put(s.concrete());
  }

  static bool is_same(const Tensor& a, const Tensor& b) {
    return a.impl() == b.impl() ||
           (a.impl()->storage() == b.impl()->storage() && a.impl()->offset() == b.impl()->offset() &&
            a.dtype() == b.dtype() && same_sizes(a.sizes(), b.sizes()) && same_sizes(a.strides(), b.strides()));
  }

  int32_t tensor(const Tensor& given) {
    const Tensor t = on_device(given, device_);
    for (size_t i = 0; i < key_.inputs.size() && key_.inputs.size() <= kSearched; ++i) {
      if (is_same(key_.inputs[i], t)) return known(static_cast<int32_t>(i));
    }
    key_.inputs.push_back(t);
    put(static_cast<int32_t>(-1));
    put(t.dtype());
    dims(t.sizes());
    dims(t.strides());
    key_.order.push_back(static_cast<int32_t>(key_.inputs.size() - 1));
    return key_.order.back();
  }

  void argument(const Call& call, const Arg& a) {
    put(a.tag);
    switch (a.tag) {
      case Arg::Tag::None:
        return;
      case Arg::Tag::Tensor:
        tensor(*a.tensor);
        return;
      case Arg::Tag::Tensors:
        put(a.count);
        for (uint32_t i = 0; i < a.count; ++i) tensor(a.tensors[i]);
        return;
      case Arg::Tag::Scalar:
        put(a.scalar->category());
        if (is_input(call, a)) {
          key_.scalars.push_back(a.scalar->to_double());
        } else if (a.scalar->category() == Category::Float) {
          put(a.scalar->to_double());
        } else {
          put(a.scalar->to_int());
        }
        return;
      case Arg::Tag::Int:
        return put(a.integer.concrete());
      case Arg::Tag::Ints:
        return dims({a.ints, a.count});
      case Arg::Tag::Float:
        return put(a.number);
      case Arg::Tag::Bool:
        return put(a.flag);
      case Arg::Tag::Text:
        return put(a.text, std::char_traits<char>::length(a.text) + 1);
      case Arg::Tag::DType:
        return put(a.dtype);
      case Arg::Tag::Device:
        return put(a.device);
    }
  }

  OperatorKey take() { return std::move(key_); }

 private:
  // More tensors than this come in lists of parameters, which do not repeat themselves.
  static constexpr size_t kSearched = 16;

  int32_t known(int32_t i) {
    put(i);
    key_.order.push_back(i);
    return i;
  }

  Device device_;
  OperatorKey key_;
};

}  // namespace

bool is_input(const Call& call, const Arg& number) {
  return number.scalar->category() == Category::Float && call.op->id != OpId::arange;
}

OperatorKey key_of(const Call& call, Device device, const TensorMeta* results) {
  KeyWriter w(device);
  w.put(call.op->id);
  w.put(call.in_place);
  w.put(device.index);
  // What the default dtype makes of them is no part of the arguments.
  for (int i = 0; i < call.num_outs; ++i) w.put(results[i].dtype);
  for (int i = 0; i < call.num_args; ++i) w.argument(call, call.args[i]);
  OperatorKey key = w.take();
  if (!call.in_place) return key;
  const std::vector<Tensor> targets = mutated_tensors(call);
  // Targets are dense and share memory with nothing else that is read.
  bool direct = true;
  for (const Tensor& t : targets) {
    int32_t at = -1;
    for (size_t i = 0; i < key.inputs.size() && at < 0; ++i) {
      if (KeyWriter::is_same(key.inputs[i], t)) at = static_cast<int32_t>(i);
    }
    key.targets.push_back(at);
    direct = direct && at >= 0 && t.is_contiguous();
  }
  struct Range {
    uintptr_t start, end;
    bool is_target;
  };
  std::vector<Range> ranges;
  for (size_t i = 0; i < key.inputs.size(); ++i) {
    const Tensor& t = key.inputs[i];
    const auto start = reinterpret_cast<uintptr_t>(t.impl()->data());
    const auto bytes = static_cast<uintptr_t>(span_of(t.sizes(), t.strides())) * size_of(t.dtype());
    const bool is_target =
        std::find(key.targets.begin(), key.targets.end(), static_cast<int32_t>(i)) != key.targets.end();
    if (bytes) ranges.push_back({start, start + bytes, is_target});
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.start < b.start; });
  uintptr_t read_end = 0, target_end = 0;
  for (const Range& r : ranges) {
    if (r.start < target_end || (r.is_target && r.start < read_end)) direct = false;
    (r.is_target ? target_end : read_end) = std::max(r.is_target ? target_end : read_end, r.end);
  }
  key.writes_in_place = direct;
  key.text += direct ? '1' : '0';
  return key;
}

}  // namespace fuselet::cuda
