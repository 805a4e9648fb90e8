// A shared object loaded from bytes in memory: what happens to files later does not reach it.
#pragma once
#include <memory>
#include <string>

namespace fuselet::cpu::jit {

class LoadedObject {
 public:
  explicit LoadedObject(void* handle) : handle_(handle) {}
  ~LoadedObject();
  LoadedObject(const LoadedObject&) = delete;
  void* symbol(const char* name) const;

 private:
  void* handle_;
};

// Null, with the reason in `problem`, where it cannot be loaded.
std::shared_ptr<LoadedObject> load_object(const std::string& bytes, std::string& problem);

}  // namespace fuselet::cpu::jit
