#include "core/copy_across.h"

namespace fuselet {
namespace {

CopyAcross g_copy_across = nullptr;

}  // namespace

void register_copy_across(CopyAcross copy) { g_copy_across = copy; }

void copy_across(const Tensor& to, const Tensor& from, bool non_blocking) {
  FUSELET_CHECK(g_copy_across, "no backend of this build copies between ", to_string(from.device()), " and ",
                to_string(to.device()));
  g_copy_across(to, from, non_blocking);
}

Tensor on_host(const Tensor& t) {
  if (t.device().type == DeviceType::CPU) return t;
  PauseRecordingGuard at_once;
  NoGradGuard no_grad;
  return t.to(Device{});
}

}  // namespace fuselet
