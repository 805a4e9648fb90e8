// The text of one nest's function: names, types and the statements, each as one line of C++ with its provenance.
//
// Statements that vary over the last dim are vectors of W lanes, the others scalars. The writers of structures put the
// loops around them. Their position variables are p0, p1, … and, along the last dim, j.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/codegen/statement_text.h"
#include "backends/cpu/codegen/nest_group.h"

namespace fuselet::cpu::codegen {

using fuselet::codegen::accumulator;
using fuselet::codegen::combine_name;
using fuselet::codegen::constant_text;
using fuselet::codegen::held_type;
using fuselet::codegen::note_text;
using fuselet::codegen::stored_type;
using fuselet::codegen::value_name;
using fuselet::codegen::widest;

class NestWriter {
 public:
  static constexpr size_t kNoDim = ~size_t{0};

  NestWriter(NestGroup& group, const kernel::Kernel& kernel);

  const kernel::Nest& nest() const { return nest_; }
  NestGroup& group() { return group_; }
  const kernel::Statement& at(int i) const { return nest_.body[static_cast<size_t>(i)]; }
  int count() const { return static_cast<int>(nest_.body.size()); }
  size_t rank() const { return nest_.dims.size(); }
  size_t last() const { return rank() - 1; }
  bool is_vector(int i) const { return at(i).varies >> last() & 1; }
  int width() const { return width_; }

  // Lines, indented.
  void line(const std::string& text);
  void open(const std::string& text);  // … {
  void close(const std::string& end = "}");
  std::string take();

  std::string name(int i) const { return value_name(at(i), i); }
  std::string vector_type(DType t) const;  // "F", …
  std::string dim(size_t d);               // its size
  std::string scratch(int statement);      // its byte offset

  // void NAME(…) {, and what is the same for the whole nest: the lane types, pointers, and the scalars that vary over
  // nothing (without those of `skip`).
  void begin_function(const std::string& name, const std::vector<bool>& skip);
  // const long p0 = …, … from `position`, the row-major number over the dims below `end` but `without`.
  void unravel(const std::string& position, size_t end, size_t without = kNoDim);
  // Pointers of the vector statements among `statements`, over the dims below `end`; others are added where they are
  // used.
  void place_pointers(const std::vector<int>& statements, size_t end);
  // Statement i's elements lie in a block beside the buffer (prelude/blocks.h) whose first column is `from` and whose
  // first row is `first_row` of dim d.
  void stage(int i, size_t d);
  // The values of the Random statements among `statements` for elements [first, stop), at most a tile, to read.
  void fill_tiles(const std::vector<int>& statements);
  // The statement as a line; over_last is the lanes' tag in vector statements.
  void scalar_statement(int i);
  void vector_statement(int i);
  // The value of statement i as lanes or as a scalar of the type that `held` is held in.
  std::string lanes_of(int i, DType held) const;
  std::string scalar_of(int i, DType held) const;
  // offset + sum of p * stride over the dims [begin, end) but `without`.
  std::string offset(int i, size_t begin, size_t end, size_t without = kNoDim);
  // "convert<T>(value)" where dtype does not hold all that the accumulator does.
  std::string reduced(int i, const std::string& value) const;
  // Reports and prelude files that the text needs.
  const std::set<std::string>& files() const { return files_; }
  void need(const char* file) { files_.insert(file); }
  // Work of one position of the last dim, in bytes moved or as many as formulas take the time of.
  double cost() const;
  int load_at_number(int i) const;

 private:
  std::string place(int i, int index);
  std::string formula(int i, bool vector);

  NestGroup& group_;
  const kernel::Nest nest_;  // column sums and what depends on them made vectors
  const kernel::Kernel& kernel_;
  int width_;
  std::string text_;
  int depth_ = 0;
  std::set<std::string> files_;
  std::map<int, size_t> staged_;  // the dim whose neighbours a block has side by side
};

}  // namespace fuselet::cpu::codegen
