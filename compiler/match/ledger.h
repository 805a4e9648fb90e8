// How the calls of a compiled function were served.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace fuselet {

// Why a call needed code that had not been compiled yet.
struct Compilation {
  std::string reason;  // "call 3 (add): argument 1 'other' is …, was …"; "first call"
  std::string line;    // of the user's
  double milliseconds = 0;
};

struct Ledger {
  // Calls by how they ran: compiled code, a replayed device graph, compiled pieces with breaks between them, eagerly.
  int64_t compiled = 0, graph_replayed = 0, segmented = 0, eager = 0;
  // In the order in which they happened; the first is no recompilation.
  std::vector<Compilation> compilations;
};

}  // namespace fuselet
