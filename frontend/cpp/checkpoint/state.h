// State: what an optimizer, a scheduler, a loader or a whole run needs to go on where it stopped: tensors and small
// values, by name. Values are text, so that every one survives bit for bit (doubles are written in hexadecimal).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor.h"

namespace fuselet {

struct State {
  std::vector<std::pair<std::string, Tensor>> tensors;
  std::map<std::string, std::string> values;

  void set_int(const std::string& name, int64_t value);
  void set_uint(const std::string& name, uint64_t value);
  void set_double(const std::string& name, double value);
  bool has(const std::string& name) const { return values.count(name) != 0; }
  // Error for an absent name or a text that is no such number.
  int64_t get_int(const std::string& name) const;
  uint64_t get_uint(const std::string& name) const;
  double get_double(const std::string& name) const;
  const std::string& get_text(const std::string& name) const;
  // nullptr where absent.
  const Tensor* find_tensor(const std::string& name) const;

  // Adds all of `part` under "prefix." + name, and takes such a part out again.
  void insert(const std::string& prefix, const State& part);
  State extract(const std::string& prefix) const;
};

}  // namespace fuselet
