#include "frontend/python/cuda_bindings.h"

#include <pybind11/stl.h>

#include "frontend/python/tensor_caster.h"
#include "fuselet/cuda.h"

namespace fuselet::python {
namespace py = pybind11;
namespace {

// Calls that may wait for the device leave the interpreter to other threads.
using Unlocked = py::call_guard<py::gil_scoped_release>;

void add_devices(py::module_& m) {
  m.def("add_library_folder", cuda::add_library_folder);
  m.def("is_available", cuda::is_available);
  m.def("is_simulated", [] { return cuda::is_available() && cuda::driver().is_simulated(); });
  m.def("is_initialized", cuda::is_driver_loaded);
  m.def("why_not_available", [] { return std::string(cuda::why_not_available()); });
  m.def("device_count", cuda::device_count);
  m.def("current_device", cuda::current_device);
  m.def("check_device", cuda::check_device);
  m.def("set_device", cuda::set_device);
  m.def("synchronize", cuda::synchronize, Unlocked());
  m.def("driver_version", [] {
    int version = 0;
    cuda::driver().cuDriverGetVersion(&version);
    return version;
  });
  using P = cuda::DeviceProperties;
  py::class_<P>(m, "DeviceProperties", "What a CUDA device is; memories in bytes.")
      .def_readonly("name", &P::name)
      .def_readonly("major", &P::major)
      .def_readonly("minor", &P::minor)
      .def_readonly("total_memory", &P::total_memory)
      .def_readonly("multi_processor_count", &P::multiprocessors)
      .def_readonly("warp_size", &P::warp_size)
      .def_readonly("max_threads_per_block", &P::max_threads_per_block)
      .def_readonly("max_threads_per_multi_processor", &P::max_threads_per_multiprocessor)
      .def_readonly("regs_per_block", &P::registers_per_block)
      .def_readonly("shared_memory_per_block", &P::shared_memory_per_block)
      .def_readonly("shared_memory_per_block_optin", &P::shared_memory_per_block_optin)
      .def_readonly("shared_memory_per_multiprocessor", &P::shared_memory_per_multiprocessor)
      .def_readonly("L2_cache_size", &P::l2_cache)
      .def_readonly("clock_rate", &P::clock_khz, "kHz")
      .def("__repr__", [](const P& p) {
        return concat("DeviceProperties(name='", p.name, "', major=", p.major, ", minor=", p.minor,
                      ", total_memory=", p.total_memory >> 20, "MB, multi_processor_count=", p.multiprocessors, ")");
      });
  m.def("device_properties", cuda::device_properties, py::return_value_policy::reference);
}

// Work that a consumer gives to `stream` later comes behind what the device's current stream has been given. `stream`
// is a driver's handle, of which 1 and 2 are the driver's own default streams (the simulated device has none).
void hand_over(int device, uintptr_t stream) {
  const cuda::Stream current = cuda::current_stream(device);
  const auto handle = reinterpret_cast<cuda::StreamHandle>(stream);
  if (handle == current.handle()) return;
  if (cuda::driver().is_simulated() && stream <= 2) return current.synchronize();
  cuda::Event done;
  done.record(current);
  cuda::check(cuda::driver().cuStreamWaitEvent(handle, done.handle(), 0), "cuStreamWaitEvent");
}

void add_streams(py::module_& m) {
  using cuda::Event;
  using cuda::Stream;
  py::class_<Stream>(m, "StreamBase")
      .def(py::init<int>(), py::arg("device"))
      .def(py::init<const Stream&>())
      .def_property_readonly("device_index", &Stream::device)
      .def_property_readonly("cuda_stream", [](const Stream& s) { return reinterpret_cast<uintptr_t>(s.handle()); })
      .def_property_readonly("stream_id", &Stream::id)
      .def("_wait_stream", &Stream::wait_stream)
      .def("_wait_event", &Stream::wait_event)
      .def("_record_event", &Stream::record_event)
      .def("query", &Stream::query, "Whether all work given until now has been done.")
      .def("synchronize", &Stream::synchronize, Unlocked(), "Waits until all work given until now has been done.");
  py::class_<Event>(m, "EventBase")
      .def(py::init<bool>(), py::arg("enable_timing"))
      .def("_record", &Event::record)
      .def("_wait", &Event::wait)
      .def("query", &Event::query, "Whether the recorded point has passed; True if nothing was recorded.")
      .def("synchronize", &Event::synchronize, Unlocked(), "Waits until the recorded point has passed.")
      .def("elapsed_time", &Event::elapsed_time, py::arg("end_event"), "Milliseconds from this event to end_event.")
      .def_property_readonly("cuda_event", [](const Event& e) { return reinterpret_cast<uintptr_t>(e.handle()); });
  m.def("current_stream", [](int device) { return cuda::current_stream(device); });
  m.def("default_stream", [](int device) { return cuda::default_stream(device); });
  m.def("set_stream", cuda::set_current_stream);
  m.def("sleep", cuda::sleep);
  m.def("hand_over", hand_over, Unlocked());
}

py::list snapshot_of(int device) {
  py::list out;
  const cuda::CachingAllocator* allocator = cuda::caching_allocator_if_used(device);
  if (!allocator) return out;
  constexpr const char* kStates[] = {"inactive", "active_allocated", "active_pending_free"};
  for (const cuda::SegmentInfo& s : allocator->snapshot()) {
    py::list blocks;
    for (const cuda::BlockInfo& b : s.blocks) {
      py::dict block;
      block["address"] = b.address;
      block["size"] = b.bytes;
      block["requested_size"] = b.requested;
      block["state"] = kStates[static_cast<int>(b.state)];
      blocks.append(block);
    }
    py::dict segment;
    segment["device"] = device;
    segment["address"] = s.address;
    segment["total_size"] = s.bytes;
    segment["stream"] = reinterpret_cast<uintptr_t>(s.stream);
    segment["segment_type"] = s.is_small ? "small" : "large";
    segment["blocks"] = blocks;
    out.append(segment);
  }
  return out;
}

void add_memory(py::module_& m) {
  m.def("memory_stats", [](int device) {
    py::dict out;
    for (const auto& [name, value] : cuda::memory_stats(device).by_name()) out[py::str(name)] = value;
    return out;
  });
  m.def("reset_peak_memory_stats", cuda::reset_peak_memory_stats);
  m.def("reset_accumulated_memory_stats", cuda::reset_accumulated_memory_stats);
  m.def("memory_summary", [](int device) { return cuda::memory_summary(device); });
  m.def("memory_snapshot", snapshot_of);
  m.def("empty_cache", cuda::empty_cache, Unlocked());
  m.def("mem_get_info", cuda::mem_get_info);
  m.def("record_stream", cuda::record_stream);
  m.def("copy_non_blocking", cuda::copy_non_blocking);
  m.def("pin_memory", cuda::pin_memory);
  m.def("is_pinned", cuda::is_pinned);
  m.def("empty_pinned_cache", [] {
    if (cuda::is_driver_loaded()) cuda::pinned_memory().empty();
  });
}

}  // namespace

void add_cuda(py::module_& parent) {
  py::module_ m = parent.def_submodule("cuda", "Devices, streams and memory; users import fuselet.cuda.");
  add_devices(m);
  add_streams(m);
  add_memory(m);
}

}  // namespace fuselet::python
