#include "frontend/python/dlpack.h"

#include <cstring>
#include <vector>

#include "frontend/python/gil.h"
#include "frontend/python/python_error.h"
#include "fuselet/cuda.h"

namespace fuselet::python {
namespace {

// The structures of the DLPack ABI, version 1.
enum DLCode : uint8_t { kCodeInt = 0, kCodeUInt = 1, kCodeFloat = 2, kCodeBfloat = 4, kCodeBool = 6 };
constexpr int32_t kDeviceCpu = 1, kDeviceCuda = 2;
constexpr uint64_t kFlagReadOnly = 1;

struct DLTensor {
  void* data;
  struct {
    int32_t type, id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

struct Managed {
  DLTensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

struct ManagedVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void* context;
  void (*deleter)(ManagedVersioned*);
  uint64_t flags;
  DLTensor tensor;
};

constexpr const char* kName = "dltensor";
constexpr const char* kVersionedName = "dltensor_versioned";

// What an exported tensor needs while the other side holds it.
template <class M>
struct Export {
  M managed;
  Tensor tensor;
  std::vector<int64_t> geometry;  // shape, then strides
};

DLCode code_of(DType t) {
  switch (t) {
    case DType::BFloat16:
      return kCodeBfloat;
    case DType::UInt8:
      return kCodeUInt;
    case DType::Bool:
      return kCodeBool;
    default:
      return is_float(t) ? kCodeFloat : kCodeInt;
  }
}

DType dtype_of(const DLTensor& d) {
  FUSELET_CHECK(d.dtype.lanes == 1, "from_dlpack: vector elements are not supported");
  for (int i = 0; i < kNumDTypes; ++i) {
    DType t = static_cast<DType>(i);
    if (code_of(t) == d.dtype.code && size_of(t) * 8 == d.dtype.bits) return t;
  }
  throw TypeError(concat("from_dlpack: no dtype for code ", int{d.dtype.code}, " of ", int{d.dtype.bits}, " bits"));
}

Device device_of(const DLTensor& d) {
  FUSELET_CHECK(d.device.type == kDeviceCpu || d.device.type == kDeviceCuda,
                "from_dlpack: only memory of the CPU and of CUDA devices can be imported, got device type ",
                d.device.type);
  if (d.device.type == kDeviceCpu) return Device{};
  cuda::check_device(d.device.id);
  return Device{DeviceType::CUDA, static_cast<int8_t>(d.device.id)};
}

template <class M>
M* make_export(const Tensor& t) {
  auto* e = new Export<M>{{}, t, {}};
  for (SymInt n : t.sizes()) e->geometry.push_back(n.concrete());
  for (SymInt s : t.strides()) e->geometry.push_back(s.concrete());
  DLTensor& d = e->managed.tensor;
  d.data = t.raw_data();
  d.device = {t.is_cuda() ? kDeviceCuda : kDeviceCpu, t.device().index};
  d.ndim = static_cast<int32_t>(t.dim());
  d.dtype = {code_of(t.dtype()), static_cast<uint8_t>(size_of(t.dtype()) * 8), 1};
  d.shape = e->geometry.data();
  d.strides = e->geometry.data() + t.dim();
  d.byte_offset = 0;
  e->managed.context = e;
  e->managed.deleter = [](M* m) { delete static_cast<Export<M>*>(m->context); };
  return &e->managed;
}

// Runs when a capsule goes; a consumed one has another name.
template <class M>
void free_unconsumed(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;
  M* managed = static_cast<M*>(PyCapsule_GetPointer(capsule, name));
  if (managed->deleter) managed->deleter(managed);
}

int64_t largest_offset(const Dims& sizes, const Dims& strides) { return span_of(sizes, strides); }

template <class M>
Tensor import(M* managed, bool read_only) {
  // From here on the producer's memory is ours: the deleter runs also if the import fails.
  std::shared_ptr<M> owner(managed, [](M* m) {
    if (!m->deleter) return;
    // A producer written in Python needs the lock; it may have gone by the time of exit.
    if (!can_take_gil()) return;
    GilAcquire gil;
    m->deleter(m);
  });
  const DLTensor& d = managed->tensor;
  const Device device = device_of(d);
  DType dtype = dtype_of(d);
  Dims sizes, strides;
  for (int32_t i = 0; i < d.ndim; ++i) sizes.push_back(d.shape[i]);
  if (d.strides) {
    for (int32_t i = 0; i < d.ndim; ++i) strides.push_back(d.shape[i] <= 1 ? 0 : d.strides[i]);
    for (SymInt s : strides)
      FUSELET_CHECK(s >= 0, "from_dlpack: negative strides are not supported; copy the array first");
  } else {
    strides = contiguous_strides(sizes);
  }
  char* data = static_cast<char*>(d.data) + d.byte_offset;
  FUSELET_CHECK(reinterpret_cast<uintptr_t>(data) % size_of(dtype) == 0,
                "from_dlpack: the memory is not aligned to its elements");
  size_t bytes = static_cast<size_t>(largest_offset(sizes, strides)) * size_of(dtype);
  auto storage = make_intrusive<Storage>(
      data, bytes, device, [owner] {}, read_only);
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), sizes, strides, 0, dtype));
}

}  // namespace

PyObject* to_capsule(const Tensor& t, bool versioned) {
  FUSELET_CHECK(!t.requires_grad(), "__dlpack__: a tensor that requires grad cannot be exported; use detach() first");
  bool read_only = t.impl()->storage()->is_read_only();
  if (!versioned) {
    if (read_only) {
      PyErr_SetString(PyExc_BufferError,
                      "__dlpack__: the tensor is read-only, which the consumer's DLPack version cannot express");
      throw PythonError();
    }
    return PyCapsule_New(make_export<Managed>(t), kName, [](PyObject* c) { free_unconsumed<Managed>(c, kName); });
  }
  ManagedVersioned* m = make_export<ManagedVersioned>(t);
  m->version = {1, 0};
  m->flags = read_only ? kFlagReadOnly : 0;
  return PyCapsule_New(m, kVersionedName, [](PyObject* c) { free_unconsumed<ManagedVersioned>(c, kVersionedName); });
}

Tensor from_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kVersionedName)) {
    auto* m = static_cast<ManagedVersioned*>(PyCapsule_GetPointer(capsule, kVersionedName));
    FUSELET_CHECK(m->version.major == 1, "from_dlpack: DLPack version ", m->version.major, " is not supported");
    PyCapsule_SetName(capsule, "used_dltensor_versioned");
    return import(m, (m->flags & kFlagReadOnly) != 0);
  }
  if (PyCapsule_IsValid(capsule, kName)) {
    auto* m = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kName));
    PyCapsule_SetName(capsule, "used_dltensor");
    return import(m, false);
  }
  const char* name = PyCapsule_CheckExact(capsule) ? PyCapsule_GetName(capsule) : nullptr;
  FUSELET_CHECK(!name || std::strncmp(name, "used_", 5) != 0, "from_dlpack: this capsule has been consumed already");
  throw TypeError("from_dlpack: expected an object with __dlpack__ or a DLPack capsule");
}

}  // namespace fuselet::python
