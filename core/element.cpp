#include "core/element.h"

#include <type_traits>

#include "core/convert.h"

namespace fuselet {
namespace {

template <class To>
To load(DType t, const void* data, int64_t index) {
  return visit_dtype(t, [&](auto kind) {
    // A bool's memory may come from elsewhere, or from empty(): any byte but 0 is true.
    using T = std::conditional_t<std::is_same_v<decltype(kind), bool>, uint8_t, decltype(kind)>;
    T element;
    std::memcpy(&element, static_cast<const char*>(data) + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
    if constexpr (std::is_same_v<decltype(kind), bool>) element = element != 0;
    return convert<To>(element);
  });
}

template <class From>
void store(DType t, void* data, int64_t index, From value) {
  visit_dtype(t, [&](auto kind) {
    using T = decltype(kind);
    T element = convert<T>(value);
    std::memcpy(static_cast<char*>(data) + index * static_cast<int64_t>(sizeof(T)), &element, sizeof(T));
  });
}

}  // namespace

double load_element(DType t, const void* data, int64_t index) { return load<double>(t, data, index); }
int64_t load_element_int(DType t, const void* data, int64_t index) { return load<int64_t>(t, data, index); }
void store_element(DType t, void* data, int64_t index, double value) { store(t, data, index, value); }
void store_element_int(DType t, void* data, int64_t index, int64_t value) { store(t, data, index, value); }

}  // namespace fuselet
