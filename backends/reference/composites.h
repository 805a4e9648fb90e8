// The references of composite operators, which the generated table leaves out because no backend has them either.
#pragma once
#include "backends/reference/reference.h"

namespace fuselet::reference {

// nullptr if there is none yet.
const RefRule* composite_rule_of(const Op& op);

}  // namespace fuselet::reference
