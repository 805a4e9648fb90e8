// The autograd layer of dispatch: puts a node on the tape for each call that needs one.
#pragma once

namespace fuselet {

void register_autograd_layer();

}  // namespace fuselet
