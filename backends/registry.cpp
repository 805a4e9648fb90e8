// The one file that names concrete backends. Loading the library registers each of them.
#include "backends/cpu/cpu_backend.h"

namespace fuselet {
namespace {

__attribute__((constructor)) void register_backends() { cpu::register_cpu_backend(); }

}  // namespace
}  // namespace fuselet
