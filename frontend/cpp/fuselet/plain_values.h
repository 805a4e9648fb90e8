// Values made of tensors, numbers and texts, in pairs, tuples, vectors and optionals: what the calls of a pure function
// are told apart by, the contents of the tensors left out.
#pragma once
#include <bit>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/tensor.h"

namespace fuselet::match {

template <class T>
struct IsPlain : std::bool_constant<std::is_arithmetic_v<T>> {};
template <>
struct IsPlain<Tensor> : std::true_type {};
template <>
struct IsPlain<std::string> : std::true_type {};
template <class T>
struct IsPlain<std::vector<T>> : IsPlain<T> {};
template <class T>
struct IsPlain<std::optional<T>> : IsPlain<T> {};
template <class A, class B>
struct IsPlain<std::pair<A, B>> : std::conjunction<IsPlain<A>, IsPlain<B>> {};
template <class... T>
struct IsPlain<std::tuple<T...>> : std::conjunction<IsPlain<T>...> {};

// Calls visit(leaf) for every tensor, number and text, in order; visit(size) for the size of what has one.
template <class Visit, class T>
void for_each_leaf(Visit& visit, T& value) {
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_arithmetic_v<Plain> || std::is_same_v<Plain, Tensor> || std::is_same_v<Plain, std::string>) {
    visit(value);
  } else if constexpr (requires { value.has_value(); }) {
    visit(value.has_value());
    if (value) for_each_leaf(visit, *value);
  } else if constexpr (requires { value.size(); }) {
    visit(value.size());
    for (auto& entry : value) for_each_leaf(visit, entry);
  } else {
    std::apply([&](auto&... entries) { (for_each_leaf(visit, entries), ...); }, value);
  }
}

// The leaves of some arguments.
struct PlainValues {
  std::vector<uint64_t> words;
  std::string texts;
  std::vector<Tensor> tensors;

  void operator()(const Tensor& t) {
    words.push_back(t.defined());
    if (t.defined()) tensors.push_back(t);
  }
  void operator()(const std::string& s) {
    words.push_back(s.size());
    texts += s;
  }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void operator()(Number n) {
    if constexpr (std::is_floating_point_v<Number>) {
      words.push_back(std::bit_cast<uint64_t>(static_cast<double>(n)));
    } else {
      words.push_back(static_cast<uint64_t>(n));
    }
  }
  bool same_but_tensors(const PlainValues& o) const { return words == o.words && texts == o.texts; }
};

// Puts tensors, in order, where a value has its own.
struct ReplaceTensors {
  const Tensor* next;
  void operator()(Tensor& t) {
    if (t.defined()) t = *next++;
  }
  template <class Other>
  void operator()(const Other&) {}
};

}  // namespace fuselet::match
