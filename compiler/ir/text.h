// Pieces of the graph's text form that printer and parser share.
#pragma once
#include <string>

namespace fuselet::ir {

// The shortest text that reads back as the same double, always recognisable as a float: "2.0", "1e-05", "inf", "nan".
std::string number_text(double v);

}  // namespace fuselet::ir
