// A Python value made of tuples, lists, dicts, None, bools, ints, floats, texts and tensors, flattened, so that another
// value can be compared with it and the value built again with other tensors.
#pragma once
#include <vector>

#include "core/tensor.h"
#include "frontend/python/object_ref.h"

namespace fuselet::python {

class ValueTree {
 public:
  // False for a value of other parts. Appends its tensors.
  bool add(PyObject* value, std::vector<Tensor>* tensors);
  // True iff `value` differs from what was added in its tensors alone (of equal Python types); appends these.
  // `at`: where to begin, moved behind the value.
  bool matches(PyObject* value, size_t* at, std::vector<Tensor>* tensors) const;
  // A new reference to the value with these tensors, from `at` and `tensor` on.
  PyObject* build(size_t* at, const std::vector<Tensor>& tensors, size_t* tensor) const;
  bool holds_only_plain_tensors() const;

 private:
  enum class Kind : uint8_t { Constant, Number, Tensor, Tuple, List, Dict };
  struct Node {
    Kind kind;
    Py_ssize_t count = 0;  // of entries
    double number = 0;     // of a float
    ObjectRef object;      // a constant; a dict's keys, as a list; the type of a tensor
  };
  bool add_entries(PyObject* const* items, Py_ssize_t count, std::vector<Tensor>* tensors);

  std::vector<Node> nodes_;
};

}  // namespace fuselet::python
