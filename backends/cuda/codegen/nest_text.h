// The text of one nest's kernels: argument fields, pointers, and statements as lines of CUDA C++.
//
// Statements that vary over the last dim belong to lanes: a thread has V neighbouring elements of it, from `first` on,
// of `n`. Loads, random values and stores go V at a time through arrays; the rest stands inside a loop over v. The
// other dims are positions p0, p1, …. No size, stride or address is in the text: they are fields, so that one source
// serves every size. `Index` is int where every offset fits.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/codegen/column_sums.h"
#include "backends/codegen/statement_text.h"
#include "backends/cuda/codegen/launch_recipe.h"
#include "backends/cuda/codegen/passes.h"

namespace fuselet::cuda::codegen {

using fuselet::codegen::accumulator;
using fuselet::codegen::combine_name;
using fuselet::codegen::constant_text;
using fuselet::codegen::held_type;
using fuselet::codegen::note_text;
using fuselet::codegen::stored_type;
using fuselet::codegen::value_name;
using fuselet::codegen::widest;

// The kernel that a nest's text becomes a part of.
struct PhaseText {
  std::string fields;  // declarations of the argument struct
  std::string body;
  unsigned threads = 0;
  NestArguments arguments;
};

class NestText {
 public:
  // `lanes`: V. `aligned`: rows may be read V elements at a time.
  NestText(const kernel::Nest& nest, const kernel::Kernel& kernel, int first_load_at, int lanes, bool aligned);

  const kernel::Nest& nest() const { return nest_; }
  const kernel::Statement& at(int i) const { return nest_.body[static_cast<size_t>(i)]; }
  int count() const { return static_cast<int>(nest_.body.size()); }
  size_t last() const { return nest_.dims.size() - 1; }
  bool is_lane(int i) const { return at(i).varies >> last() & 1; }
  int lanes() const { return lanes_; }
  bool aligned() const { return aligned_; }
  std::string name(int i) const { return value_name(at(i), i); }

  // Lines, indented.
  void line(const std::string& text);
  void open(const std::string& text);  // … {
  void close(const std::string& end = "}");

  // The field's value as an expression; declares it once a phase.
  std::string number(const std::string& name, int64_t value);
  std::string dim(size_t d);
  std::string scratch(const std::string& name, const std::string& type, int64_t offset);
  // x divided by dim d's size, or by `size` with a field of that name.
  std::string quotient(const std::string& x, const std::string& field, int64_t size);

  // const Index p0 = …, … from the row-major number `position` over `dims`.
  void unravel(const std::string& position, const std::vector<size_t>& dims);
  // The statement as a line, for one that does not vary over the last dim.
  void scalar_statement(int i);
  // Every scalar statement of `wanted` (all if empty) that varies over the dims of `over` at most and is not in `done`.
  void scalar_statements(uint32_t over, std::set<int>* done);
  // The body of a pass for `first` of `n`: loads, lanes, accumulation into acc_i[V], stores. `keep`: suffix that
  // selects the current part of kept arrays ("[k]").
  void lane_statements(const Pass& pass, const std::string& keep);
  // An expression of statement i's value as the held type of dtype.
  std::string value_as(int i, DType dtype) const;
  // A Reduce's result, from its accumulator, as the statement's value.
  std::string reduced(int i, const std::string& value) const;
  // acc_i[V], at the identity.
  void declare_accumulator(int i);
  std::string accumulator_type(int i) const { return held_type(accumulator(at(i))); }
  // Type of elements in an array that keeps statement i.
  std::string kept_type(int i) const;
  // Names that lanes use for a statement instead of its own (results of reductions that vary over the last dim).
  void rename(int i, const std::string& expression) { renamed_[i] = expression; }

  PhaseText take(unsigned threads, int64_t blocks);

  const std::set<std::string>& files() const { return files_; }
  void need(const char* file) { files_.insert(file); }
  const std::vector<AlignedAccess>& aligned_accesses() const { return aligned_accesses_; }

 private:
  std::string offset(int i, bool with_last);
  std::string pointer(int i, bool with_last);
  std::string place(int i, size_t k, const std::string& wanted);
  std::string formula(int i) const;
  std::string draw(int i);
  std::string constant(int i);
  std::string threshold(int i);
  // The call that draws the random numbers of statement i; `elements`: the first one's number and the step.
  std::string random_pack(int i, const std::string& elements, const std::string& to);
  std::string lane_value(int i);
  bool in_array(int i) const;
  bool steps_by_one(int i) const;
  bool has_lane_index(int i) const;
  void load_array(int i);

  const kernel::Nest& nest_;
  const kernel::Kernel& kernel_;
  int first_load_at_;
  int lanes_;
  bool aligned_;
  std::string text_, declarations_;
  std::set<std::string> declared_;
  std::vector<Field> fields_;
  std::map<int, std::string> renamed_;
  std::set<std::string> files_;
  std::vector<AlignedAccess> aligned_accesses_;
  std::vector<bool> rough_;
  int depth_ = 1;
};

// How many neighbouring elements a thread may take at a time where the strides of the nest allow it: 16 bytes of the
// widest rows. 1 if none.
int choose_lanes(const kernel::Nest& nest);
// Whether every access of the nest that steps by one element along the last dim may go `lanes` at a time, by its sizes
// and strides. Addresses are the launch's business.
bool may_align(const kernel::Nest& nest, int lanes);

}  // namespace fuselet::cuda::codegen
