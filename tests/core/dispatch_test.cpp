// The layers of dispatch: their order, and where composite operators unfold.
#include "core/dispatch.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/ops/functions.h"

using namespace fuselet;

namespace {

std::vector<std::string> g_passed;
LayerFunction g_saved[kNumLayers];

template <Layer kLayer>
void note(Call& call) {
  g_passed.push_back(std::string(name_of(kLayer)) + " " + call.op->name);
  g_saved[static_cast<int>(kLayer)](call);
}

template <Layer kLayer>
class Watch {
 public:
  Watch() : guard_(kLayer, true) { g_saved[static_cast<int>(kLayer)] = register_layer(kLayer, note<kLayer>); }
  ~Watch() { register_layer(kLayer, g_saved[static_cast<int>(kLayer)]); }

 private:
  LayerGuard guard_;
};

}  // namespace

TEST_CASE("a call passes match, autocast, autograd, then the backend") {
  Tensor a = ones({2});
  g_passed.clear();
  Watch<Layer::Backend> backend;
  Watch<Layer::Autograd> autograd;
  Watch<Layer::Autocast> autocast;
  Watch<Layer::Match> match;
  exp(a);
  CHECK(g_passed == std::vector<std::string>{"match exp", "autocast exp", "autograd exp", "backend exp"});
}

TEST_CASE("a composite operator is seen by match and autocast, and unfolds into others below") {
  Tensor a = ones({2, 2});
  g_passed.clear();
  Watch<Layer::Autograd> autograd;
  Watch<Layer::Autocast> autocast;
  Watch<Layer::Match> match;
  a.flatten();
  CHECK(g_passed == std::vector<std::string>{"match flatten", "autocast flatten", "autocast reshape", "autocast view",
                                             "autograd view"});
}

TEST_CASE("a layer guard ends with its scope, also when the call fails") {
  uint8_t before = dispatch_state().layers;
  try {
    LayerGuard guard(Layer::Match, true);
    add(ones({2}), ones({3}));
  } catch (const Error&) {
  }
  CHECK(dispatch_state().layers == before);
  CHECK(dispatch_state().line == nullptr);
}
