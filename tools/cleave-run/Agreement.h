// All ranks compare what they are about to run, before the first step: ranks with different plans,
// options, data or checkpoints would train on with wrong results.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/comm/Communicator.h"

#include <string>
#include <vector>

namespace cleave::run {

// A value that must be equal on all ranks. `name` is a noun, such as `the first step`, and `value`
// is as the user knows it.
struct Fact {
  std::string name, value;
};

// What one rank is about to run, or the failure that keeps it from it.
struct Intent {
  Status status; // ok, or why this rank cannot run; the facts are then incomplete
  std::vector<Fact> facts;
};

// Conversion to and from a text. A damaged text gives a defect as status.
std::string toText(const Intent &intent);
Intent intentFrom(const std::string &text);

// Compares the intents of all ranks, by rank. A user error names the first fact that differs, with
// the value of every rank, and the names of the others:
//   the ranks differ in the first step: 60 on ranks 0, 2, 3, 40 on rank 1; …
// A rank that cannot run comes first: its status, with the rank unless all ranks have the same.
Status compareIntents(const std::vector<Intent> &intents);

// Collective: exchanges the intents of all ranks of `world`; every rank gets the same result.
Status agreeOnRun(comm::Communicator &world, const Intent &own);

} // namespace cleave::run
