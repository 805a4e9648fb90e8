#!/bin/sh
# The headers that NVRTC and generated units take in must compile with no include path at all.
# Usage: no_header_needed.sh [COMPILER]; run from the repository root.
set -eu
compiler=${1:-g++}
for header in core/formulas.h core/casts.h core/half.h core/philox.h core/philox_blocks.h core/random_integers.h core/random_values.h \
  core/reduction_tree.h backends/cpu/codegen/prelude/*.h; do
  for machine in native x86-64; do
    echo "#include \"$header\"" |
      "$compiler" -std=c++20 -march=$machine -ffp-contract=off -Wall -Wextra -Werror -nostdinc -nostdinc++ -fsyntax-only -I. -x c++ -
  done
  echo "$header: compiles alone"
done
