// Rest: cost networks that list only a part of the choices of a node one by one.
//
// The number of choices grows exponentially in the axes of the mesh. Where there are many, a node
// lists some of them, and one optimistic choice, the rest, stands for all others. The rest has the
// least seconds of any of them, per usage the least bytes of any of them, and on every edge the
// least seconds between any of their layouts and the layout at the other end (LayoutSet). Hence, if
// every choice of a plan that is not listed is replaced by the rest of its node, no term of the
// cost and no usage of memory grows. A lower bound on the cost of this network therefore holds for
// all plans, however few choices are listed. A rest is never part of a plan: where the solver takes
// it, more choices are listed (Refine.h).
#pragma once

#include "compiler/planner/choices/Choices.h"
#include "compiler/solver/Problem.h"

#include <map>

namespace cleave::planner {

// Identifies a list of choices: nodes that are alike share it.
using ListKey = std::vector<int64_t>;

// How many choices every list has.
struct Listing {
  ChoiceLimits limits;
  std::map<ListKey, size_t> sizes = {}; // of lists that have grown

  // The size of a list; `first` before it has grown.
  size_t sizeOf(const ListKey &key, size_t first) const;
};

// The rest of a node.
struct Rest {
  int choice = -1;   // its index among the choices of the node, the last one; -1: there is none
  ListKey list;      // the list of the node
  size_t listed = 0; // the number of listed choices
  size_t others = 0; // the number of those it stands for
};

// The choices of a node as its network has them.
struct Listed {
  std::vector<size_t> listed, others; // indices of the choices that are listed, or not; ascending
  std::vector<solver::Choice> priced; // the listed choices, then the rest if there are others
  Rest rest;
};

// Per choice the numbers of its layouts: the same values in the same order for all choices.
using LayoutNumbers = std::vector<std::vector<int>>;

// Lists the choices of a node that are neither impossible nor dominated. A choice is dominated by
// one with the same layouts, no more seconds, and no more bytes for any usage, which can take its
// place in any plan. Of more than `most` choices are listed: the first one, then in turn the next
// fastest and the next smallest. Bounds are valid whichever choices are listed.
Listed listChoices(const std::vector<solver::Choice> &all, const LayoutNumbers &layouts,
                   const ListKey &list, size_t most);

// The distinct layouts of one value among a node's choices, by number (Costs::number).
struct LayoutSet {
  std::vector<int> layouts;  // of listed choices
  std::vector<int> others;   // of the choices that the rest stands for; empty without a rest
  std::vector<int> ofChoice; // per choice an index of alternatives()

  // Appends the layout of the next choice.
  void add(int layout);
  // Per entry of `layouts` this layout, then all of `others` if there are any.
  std::vector<std::vector<int>> alternatives() const;
  // All layouts, those of the rest included, each once.
  std::vector<int> all() const;
  auto operator<=>(const LayoutSet &) const = default;
};

// The layouts of value number `value` in `layouts`, which are those of all choices, listed or not.
LayoutSet layoutsOf(const Listed &list, const LayoutNumbers &layouts, size_t value);

} // namespace cleave::planner
