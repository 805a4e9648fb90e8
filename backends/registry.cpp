// The one file that names concrete backends. Loading the library registers each of them, and the layers of dispatch.
#include "autograd/layer.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/cpu_target.h"
#include "backends/cpu/parallel.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/threads.h"
#include "compiler/match/call.h"
#include "compiler/trace/recorder.h"

namespace fuselet {
namespace {

__attribute__((constructor)) void register_everything() {
  register_autograd_layer();
  match::register_match_layer();
  trace::register_trace_layers();
  cpu::register_cpu_backend();
  cpu::register_cpu_target();
  cuda::register_cuda_backend();
}

}  // namespace

void set_num_threads(int n) { cpu::set_num_threads(n); }
int get_num_threads() { return cpu::get_num_threads(); }

}  // namespace fuselet
