// Bytes and elements between host and devices.
//
// Copies run on the current stream of the device (of the source's device between two). A copy of pinned memory that is
// asked for without blocking runs on while the caller goes on; every other copy with the host has ended on return.
#pragma once
#include <cstddef>

#include "core/device.h"
#include "core/tensor.h"

namespace fuselet::cuda {

void copy_bytes(void* to, Device to_device, const void* from, Device from_device, size_t bytes, bool non_blocking);

// For register_copy_across: any layouts, dtypes and broadcasts; what bytes cannot say, operators do on either side.
void copy_tensor_across(const Tensor& to, const Tensor& from, bool non_blocking);

// to.copy_(from), where a copy from or to pinned memory may still run when the call returns. Calls that gradients or a
// recording must see are ordinary ones.
void copy_non_blocking(Tensor to, const Tensor& from);

// A copy in pinned memory with the layout of a dense `t`, else contiguous; `t` itself if it is pinned. CPU only.
Tensor pin_memory(const Tensor& t);
bool is_pinned(const Tensor& t);
// The storage of `t` is used by work of the stream as well; it is not used again before that work has been done.
void record_stream(const Tensor& t, const class Stream& stream);

}  // namespace fuselet::cuda
