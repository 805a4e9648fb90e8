// A registered scalar on the host: learning rate, betas, step counter.
// A cell that an operator reads while a recording runs becomes a scalar input bound to the cell, so a new value needs
// no new recording. An `advance` while a recording runs is recorded as an effect that each replay repeats.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>

#include "core/intrusive_ptr.h"

namespace fuselet {

class HostCell final : public RefCounted {
 public:
  HostCell(double value, std::string name) : value_(value), name_(std::move(name)) {}
  double get() const {
    was_read_.store(true, std::memory_order_relaxed);
    return peek();
  }
  // The value, for who only hands it on; `was_read` tells whether something may depend on it already.
  double peek() const { return value_.load(std::memory_order_relaxed); }
  bool was_read() const { return was_read_.load(std::memory_order_relaxed); }
  void set(double value);
  // Adds `by`, now or (while a recording runs) also on every replay.
  void advance(double by);
  const std::string& name() const { return name_; }

 private:
  std::atomic<double> value_;
  mutable std::atomic<bool> was_read_ = false;
  std::string name_;
};

using CellPtr = IntrusivePtr<HostCell>;

}  // namespace fuselet
