// The __shared__ variables of an object, by its symbol table.
#pragma once
#include <cstddef>
#include <string>

namespace fuselet::cuda::sim {

// "tile[+12]" for the variable that holds the byte at `offset` of the object's thread-local storage; empty if none
// does.
std::string shared_variable_at(const std::string& object_path, size_t offset);

// Bytes of the static variables that the function with this (unmangled) name declares.
unsigned static_shared_bytes(const std::string& object, const std::string& function);

}  // namespace fuselet::cuda::sim
