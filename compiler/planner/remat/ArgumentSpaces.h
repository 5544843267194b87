// ArgumentSpaces: in which space parameters, constants and states are from step to step, as nodes
// of the network of recomputation (ChooseRemat.h).
//
// A node has the choice of device memory, and one per other space of which there are bytes. An
// argument that is elsewhere takes device memory while an op reads it, a copy in per op, and a copy
// out where its new value is made. The program may do with fewer copies (schedule/Away.h).
#pragma once

#include "compiler/planner/remat/ChooseRemat.h"
#include "compiler/planner/remat/RematChoices.h"

#include <map>

namespace cleave::planner {

// Seconds that a byte in each other space costs, in place of the budgets there.
using SpacePrices = std::map<Space, double>;

class ArgumentSpaces {
public:
  // `decided` has the bytes of the arguments. Keeps references to all but the spaces and prices.
  ArgumentSpaces(const Costs &costs, const PricedDecisions &decided, const PinnedRemat &pinned,
                 const RematChoices &choices, const OtherSpaces &spaces, SpacePrices prices);

  // Adds the nodes.
  void addTo(solver::Problem &problem);
  // Whether there is a node for the argument, so that nothing else may hold what it takes.
  bool isOpen(int argument) const;
  // The spaces that are chosen for the arguments, if these are not device memory.
  std::map<int, Space> chosen(const std::vector<int> &choices) const;

  // The price of an amount of bytes in a space, in seconds.
  double priceOf(Space space, int64_t bytes) const;
  // The usage of bytes in another space. They count at all times, since all of them are in use
  // between the forward and the backward part.
  solver::Usage throughout(Space space) const;

private:
  // An argument whose space is open.
  struct OpenArgument {
    int argument = 0;
    size_t node = 0;                // of the problem
    std::vector<Space> spaces = {}; // by choice
  };

  // The ops that read the value or a view of it, each once.
  std::vector<int> readersOf(int value) const;
  void add(int argument, int64_t bytes, solver::Problem &problem);

  const Costs &costs_;
  const StepModel &model_;
  const PricedDecisions &decided_;
  const PinnedRemat &pinned_;
  const RematChoices &choices_;
  const OtherSpaces spaces_;
  const SpacePrices prices_;
  std::vector<OpenArgument> open_;
};

} // namespace cleave::planner
