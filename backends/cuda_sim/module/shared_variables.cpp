#include "backends/cuda_sim/module/shared_variables.h"

#include <cxxabi.h>
#include <elf.h>

#include <cstdlib>
#include <cstring>

#include "backends/cuda_sim/compile/work_folder.h"

namespace fuselet::cuda::sim {

namespace {

// Calls f(name, offset, bytes) for each thread-local symbol.
template <class F>
void for_thread_locals(const std::string& object, F f) {
  if (object.size() < sizeof(Elf64_Ehdr)) return;
  Elf64_Ehdr header;
  std::memcpy(&header, object.data(), sizeof header);
  if (header.e_shoff + sizeof(Elf64_Shdr) * header.e_shnum > object.size()) return;
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(object.data() + header.e_shoff);
  for (int s = 0; s < header.e_shnum; ++s) {
    if (sections[s].sh_type != SHT_SYMTAB) continue;
    const char* names = object.data() + sections[sections[s].sh_link].sh_offset;
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(object.data() + sections[s].sh_offset);
    for (size_t i = 0; i < sections[s].sh_size / sizeof(Elf64_Sym); ++i)
      if (ELF64_ST_TYPE(symbols[i].st_info) == STT_TLS)
        f(names + symbols[i].st_name, symbols[i].st_value, symbols[i].st_size);
  }
}

std::string readable(const char* name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string result = status == 0 ? text : name;
  std::free(text);
  return result.substr(result.rfind(':') + 1);
}

}  // namespace

std::string shared_variable_at(const std::string& object_path, size_t offset) {
  std::string object, found;
  read_file(object_path, object);
  for_thread_locals(object, [&](const char* name, size_t begin, size_t bytes) {
    if (begin <= offset && offset < begin + bytes) found = readable(name) + "[+" + std::to_string(offset - begin) + "]";
  });
  return found;
}

unsigned static_shared_bytes(const std::string& object, const std::string& function) {
  // _ZZ<length><function>E<length><variable>, with what follows for a mangled function's parameters.
  std::string prefix = "_ZZ" + std::to_string(function.size()) + function;
  size_t total = 0;
  for_thread_locals(object, [&](const char* name, size_t, size_t bytes) {
    if (std::strncmp(name, prefix.c_str(), prefix.size()) == 0) total += bytes;
  });
  return static_cast<unsigned>(total);
}

}  // namespace fuselet::cuda::sim
