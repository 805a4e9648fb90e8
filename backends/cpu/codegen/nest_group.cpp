#include "backends/cpu/codegen/nest_group.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <sstream>

namespace fuselet::cpu::codegen {

using kernel::Access;
using kernel::Kind;
using kernel::Statement;

std::string shape_of(const kernel::Nest& nest, const kernel::Kernel& kernel) {
  std::ostringstream out;
  std::map<int32_t, size_t> buffers;  // renamed by first use
  auto access = [&](const Access& a) {
    if (a.buffer >= 0) {
      out << " b" << buffers.emplace(a.buffer, buffers.size()).first->second
          << short_name_of(kernel.buffers[static_cast<size_t>(a.buffer)].dtype);
    }
    for (int64_t s : a.strides) out << (s == 0 ? '0' : s == 1 ? '1' : 's');
    out << (a.offset == 0 ? '0' : '+');
  };
  out << static_cast<int>(nest.structure) << ':' << nest.dims.size();
  if (nest.structure != kernel::Structure::Pointwise) out << ':' << nest.dims.back();  // sizes of buffers
  for (const Statement& s : nest.body) {
    uint64_t bits;
    std::memcpy(&bits, &s.number, sizeof bits);
    out << '\n'
        << static_cast<int>(s.kind) << ' ' << static_cast<int>(s.dtype) << ' ' << s.varies << ' '
        << static_cast<int>(s.op) << ' ' << static_cast<int>(s.compute) << ' ' << static_cast<int>(s.combine) << ' '
        << static_cast<int>(s.tree) << ' ' << static_cast<int>(s.distribution) << ' ' << s.threshold << ' ' << bits
        << ' ' << s.integer << " (";
    for (int32_t a : s.args) out << ' ' << a;
    access(s.access);
    for (const auto& d : s.indices) out << " i" << d.statement << (d.size == 0 ? "e" : "");
  }
  return out.str();
}

bool NestGroup::agree(const std::function<int64_t(const PlacedNest&)>& of, int64_t* value) const {
  *value = of(nests_[0]);
  return std::all_of(nests_.begin(), nests_.end(), [&](const PlacedNest& n) { return of(n) == *value; });
}

std::string NestGroup::number(const std::function<int64_t(const PlacedNest&)>& of) {
  int64_t value;
  if (agree(of, &value)) return std::to_string(value);
  std::vector<int64_t> column;
  for (const PlacedNest& n : nests_) column.push_back(of(n));
  auto found = std::find(columns_.begin(), columns_.end(), column);
  const auto index = found - columns_.begin();
  if (found == columns_.end()) columns_.push_back(std::move(column));
  return "at[" + std::to_string(index) + "]";
}

std::vector<NestGroup> group_nests(const std::vector<PlacedNest>& nests, const kernel::Kernel& kernel) {
  std::vector<std::string> shapes;
  std::vector<std::vector<PlacedNest>> members;
  for (const PlacedNest& n : nests) {
    const std::string shape = shape_of(*n.nest, kernel);
    const auto at = static_cast<size_t>(std::find(shapes.begin(), shapes.end(), shape) - shapes.begin());
    if (at == shapes.size()) {
      shapes.push_back(shape);
      members.emplace_back();
    }
    members[at].push_back(n);
  }
  std::vector<NestGroup> groups;
  for (auto& m : members) groups.emplace_back(std::move(m));
  return groups;
}

}  // namespace fuselet::cpu::codegen
