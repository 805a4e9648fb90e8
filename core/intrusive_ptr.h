// Reference counting inside the object: one word a handle, no control block.
// A class derives from RefCounted; the last IntrusivePtr deletes it. release_resources() runs before deletion and may
// be used by a class that must hand its parts on without recursion.
#pragma once
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace fuselet {

class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  virtual ~RefCounted() = default;

  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) const_cast<RefCounted*>(this)->destroy();
  }
  // Takes a reference unless the object is already being destroyed; for tables of observers.
  bool retain_if_alive() const noexcept {
    int32_t n = count_.load(std::memory_order_relaxed);
    while (n > 0) {
      if (count_.compare_exchange_weak(n, n + 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }
  int32_t use_count() const noexcept { return count_.load(std::memory_order_acquire); }

 protected:
  virtual void destroy() noexcept { delete this; }

 private:
  mutable std::atomic<int32_t> count_{0};
};

template <class T>
class IntrusivePtr {
 public:
  IntrusivePtr() = default;
  IntrusivePtr(std::nullptr_t) {}
  explicit IntrusivePtr(T* p) : p_(p) {
    if (p_) p_->retain();
  }
  IntrusivePtr(const IntrusivePtr& o) : IntrusivePtr(o.p_) {}
  IntrusivePtr(IntrusivePtr&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  template <class U>
  requires std::convertible_to<U*, T*> IntrusivePtr(IntrusivePtr<U> o) : p_(o.detach()) {}
  IntrusivePtr& operator=(IntrusivePtr o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~IntrusivePtr() {
    if (p_) p_->release();
  }

  // Takes over a reference that the caller already holds.
  static IntrusivePtr adopt(T* p) {
    IntrusivePtr r;
    r.p_ = p;
    return r;
  }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  // Gives the reference to the caller.
  T* detach() { return std::exchange(p_, nullptr); }
  friend bool operator==(const IntrusivePtr& a, const IntrusivePtr& b) { return a.p_ == b.p_; }

 private:
  T* p_ = nullptr;
};

template <class T, class... A>
IntrusivePtr<T> make_intrusive(A&&... a) {
  return IntrusivePtr<T>(new T(std::forward<A>(a)...));
}

}  // namespace fuselet
