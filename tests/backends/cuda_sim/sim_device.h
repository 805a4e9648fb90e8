// The simulated device as its tests use it: tables by dlopen, kernels from source, buffers, reports.
#pragma once
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "backends/cuda/driver/driver_api.h"

namespace fuselet::cuda::sim_test {

const DriverApi& api();
const NvrtcApi& nvrtc();
// An exported function of the library.
void* symbol(const char* name);

// Makes the context current; every test begins with it. Reports and errors left by an earlier test fail this one.
void begin();
// The reports since the last call; they and the sticky error are cleared.
std::vector<std::string> take_reports();
void set_order(const char* order);
void set_schedule(const char* schedule);

// The programs of the tests are compiled once each; the name stands in reports.
FunctionHandle kernel(const std::string& program, const char* source, const char* name);
// The line of the source (the first is 1) that holds the text; the tests' faults carry a comment.
std::string line_with(const std::string& program, const char* source, const char* text);
// Empty if it compiles, else the log.
std::string compile(const std::string& program, const char* source, const std::vector<const char*>& options,
                    std::string& image);

StreamHandle new_stream();

// One block of cuMemAlloc.
class Buffer {
 public:
  explicit Buffer(size_t bytes);
  template <class T>
  explicit Buffer(const std::vector<T>& values) : Buffer(values.size() * sizeof(T)) {
    write(values);
  }
  ~Buffer();
  Buffer(const Buffer&) = delete;
  DevicePtr at(size_t bytes = 0) const { return memory_ + bytes; }

  template <class T>
  void write(const std::vector<T>& values) {
    copy_in(values.data(), values.size() * sizeof(T));
  }
  template <class T>
  std::vector<T> read(size_t count) const {
    std::vector<T> values(count);
    copy_out(values.data(), count * sizeof(T));
    return values;
  }

 private:
  void copy_in(const void* from, size_t bytes);
  void copy_out(void* to, size_t bytes) const;
  DevicePtr memory_ = 0;
};

struct Shape {
  unsigned grid, block, shared = 0;
};

template <class... A>
Result launch(FunctionHandle function, Shape shape, StreamHandle stream, A... arguments) {
  void* parameters[] = {&arguments..., nullptr};
  return api().cuLaunchKernel(function, shape.grid, 1, 1, shape.block, 1, 1, shape.shared, stream, parameters, nullptr);
}

// The stream that tests use when one is enough.
StreamHandle stream();
Result finish(StreamHandle on = nullptr);

}  // namespace fuselet::cuda::sim_test
