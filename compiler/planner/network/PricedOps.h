// PricedOps: the priced choices of ops, computed once for all ops that are alike: a model of a
// hundred equal layers has no more of them than a model of three.
#pragma once

#include "compiler/planner/choices/Pins.h"
#include "compiler/planner/network/CopyMemory.h"
#include "compiler/planner/network/Costs.h"
#include "compiler/planner/network/Rest.h"

#include <memory>

namespace cleave::planner {

// The number of choices of an op or argument before and after the pins are applied.
struct PinEffect {
  size_t before = 0, after = 0;
};

// A need for memory that an op's choice decides on.
struct Need {
  enum class Kind {
    Natural,  // result `index` as the kernel writes it, while the op runs
    Home,     // result `index` as it is kept
    Resolve,  // the change of result `index` between the two layouts, beside the kept one
    Operand,  // a copy of operand `index`
    Scratch,  // memory of `bytes` bytes, in proportion to the op's work
    Follower, // argument `index`, which lives in the layout that the op wants
  };
  Kind kind = Kind::Home;
  int index = 0;
  int64_t bytes = 0;
  Span span;
};

// The choices of an op, priced.
struct PricedOp {
  std::vector<OpChoice> choices; // the listed ones
  // Per choice, the rest included, its seconds, and bytes per need.
  solver::ChoiceList priced;
  std::vector<bool> isTaken;                // per need, whether some choice takes bytes for it
  std::vector<LayoutSet> operands, results; // per operand and result its layouts
  Rest rest;
  PinEffect pinEffect;
};

// The context of an op that its choices depend on.
struct OpContext {
  // Per op its followers: arguments that live in the layout that the op, their only reader, wants.
  // Their layouts are part of the op's choice.
  std::vector<std::vector<int>> followers;
  // Per value, if it leaves the step without replacing an argument: the layouts in which it does;
  // nothing stands for the one that it has, complete.
  std::vector<std::vector<std::optional<Sharding>>> leaves;
  // Per op the stores of its results and those that exist for it, and per argument its own ones, by
  // index of StepModel::stores.
  std::vector<std::vector<int>> storesOfOp, storesOfArgument;
  // Copies whose memory the network counts, if it does.
  std::optional<CopyMemory> copies;
};

// What an op needs memory for. Ops that are alike need the same, at different times.
std::vector<Need> needsOf(const StepModel &model, const OpContext &context, int op);

// The layout of a follower if its reader takes the given choice.
Sharding followedLayout(const StepModel &model, int argument, const OpChoice &readerChoice);

// The choices of a step's ops, priced on demand. Keeps references to the constructor's arguments.
class PricedOps {
public:
  PricedOps(Costs &costs, const Pins &pins, const OpContext &context)
      : costs_(costs), model_(costs.model()), pins_(pins), context_(context),
        numberOf_(costs.model().ops.size(), -1) {}

  // An op with its choices; ops that are alike share them, as long as their list does not grow.
  std::shared_ptr<const PricedOp> of(int op, const Listing &listing);
  // Number of different ops so far.
  size_t count() const { return all_.size(); }

private:
  // All choices of ops that are alike, and the last list of them.
  struct Enumerated {
    std::vector<OpChoice> choices;
    std::vector<solver::Choice> priced; // per choice
    LayoutNumbers layouts;              // per choice
    PinEffect pinEffect;
    std::shared_ptr<const PricedOp> last;
    size_t listed = 0; // at most, in `last`
  };

  std::vector<int64_t> keyOf(int op) const;
  Enumerated enumerate(int op);
  static PricedOp list(const Op &op, const Enumerated &all, const ListKey &key, size_t most);
  bool keepsFollowers(int op, const OpChoice &choice) const;
  double secondsOf(int op, const OpChoice &choice);
  std::vector<int64_t> bytesOf(int op, const OpChoice &choice) const;
  int64_t bytesOf(const Op &op, const Need &need, const OpChoice &choice) const;

  Costs &costs_;
  const StepModel &model_;
  const Pins &pins_;
  const OpContext &context_;
  std::vector<int> numberOf_; // per op that of its choices, of all_; -1: not yet asked for
  std::map<std::vector<int64_t>, int> numbers_; // by key
  std::vector<Enumerated> all_;
};

} // namespace cleave::planner
