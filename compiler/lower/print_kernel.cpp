#include <sstream>

#include "compiler/lower/kernel.h"

namespace fuselet::kernel {
namespace {

constexpr const char* kStructures[] = {"pointwise", "rows", "split_rows", "columns", "rows_and_columns", "tile"};
constexpr const char* kCombines[] = {"sum", "max", "min"};
constexpr const char* kTrees[] = {"row", "column"};
constexpr const char* kDistributions[] = {"uniform", "normal", "bernoulli"};

template <class List>
void print_list(std::ostream& out, const List& list) {
  const char* gap = "";
  for (const auto& item : list) {
    out << gap << item;
    gap = ", ";
  }
}

// "b0[4 + (1024, 1)]", or without a buffer the number alone.
void print_access(std::ostream& out, const Access& a) {
  if (a.buffer >= 0) out << 'b' << a.buffer;
  out << '[' << a.offset << " + (";
  print_list(out, a.strides);
  out << ")]";
}

void print_args(std::ostream& out, const Statement& s) {
  const char* gap = "";
  for (int32_t arg : s.args) {
    out << gap << '%' << arg;
    gap = ", ";
  }
}

void print_statement(std::ostream& out, const Statement& s) {
  switch (s.kind) {
    case Kind::Load:
      out << "load ";
      print_access(out, s.access);
      break;
    case Kind::LoadAt:
      out << "load_at ";
      print_access(out, s.access);
      for (const IndexedDim& d : s.indices) out << " %" << d.statement << " of " << d.size << " * " << d.stride;
      break;
    case Kind::Constant:
      out << "constant ";
      if (is_float(s.dtype))
        out << s.number;
      else
        out << s.integer;
      break;
    case Kind::Scalar:
      out << "scalar " << s.parameter;
      break;
    case Kind::Position:
      out << "position ";
      print_access(out, s.access);
      break;
    case Kind::Random:
      out << "random " << s.parameter << ' ' << kDistributions[static_cast<int>(s.distribution)];
      if (s.distribution == Distribution::Bernoulli) out << ' ' << s.threshold;
      out << ' ';
      print_access(out, s.access);
      break;
    case Kind::Formula:
      out << op_of(s.op).name << '<' << short_name_of(s.compute) << ">(";
      print_args(out, s);
      out << ')';
      break;
    case Kind::Convert:
      out << "convert(";
      print_args(out, s);
      out << ')';
      break;
    case Kind::Reduce:
      out << kCombines[static_cast<int>(s.combine)] << '_' << kTrees[static_cast<int>(s.tree)] << '(';
      print_args(out, s);
      out << ')';
      break;
    case Kind::Store:
      out << "store ";
      print_access(out, s.access);
      out << " = ";
      print_args(out, s);
      break;
  }
}

}  // namespace

std::string print(const Kernel& kernel) {
  std::ostringstream out;
  out.precision(17);
  out << "kernel " << kernel.name << "\n";
  for (size_t i = 0; i < kernel.buffers.size(); ++i) {
    const Buffer& b = kernel.buffers[i];
    out << "  b" << i << ": " << short_name_of(b.dtype) << ' ' << b.elements << (b.written ? " written" : "") << '\n';
  }
  if (kernel.scalars) out << "  scalars " << kernel.scalars << '\n';
  if (kernel.randoms) out << "  randoms " << kernel.randoms << '\n';
  for (const Stage& stage : kernel.stages) {
    out << "stage\n";
    for (const Nest& nest : stage.nests) {
      out << "  " << kStructures[static_cast<int>(nest.structure)] << " (";
      print_list(out, nest.dims);
      out << ")\n";
      for (size_t i = 0; i < nest.body.size(); ++i) {
        const Statement& s = nest.body[i];
        out << "    %" << i << ": " << short_name_of(s.dtype);
        // The dims that it varies over, by number.
        out << " {";
        const char* gap = "";
        for (size_t d = 0; d < nest.dims.size(); ++d) {
          if (s.varies >> d & 1) {
            out << gap << d;
            gap = ",";
          }
        }
        out << "} = ";
        print_statement(out, s);
        if (!s.note.empty()) out << "  # " << s.note;
        out << '\n';
      }
    }
  }
  return out.str();
}

}  // namespace fuselet::kernel
