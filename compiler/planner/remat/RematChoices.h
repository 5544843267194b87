// RematChoices: the ops that may be kept or recomputed, and the choices of each: from when to when
// its results are in memory after the forward part. ChooseRemat.h has the cost of a choice, and the
// pairs of choices that are allowed.
//
// A slot is the instant before a reader of the backward part. An op is recomputed at slots of its
// own readers, or of ops that read it and may be recomputed there.
#pragma once

#include "compiler/planner/remat/ChooseRemat.h"

#include <limits>
#include <map>
#include <set>

namespace cleave::planner {

// One choice of a node: from when to when the results are in memory after the forward part, in
// ticks. Kept results are live from the end of their last forward reader; every other life begins
// with a recomputation.
struct RematChoice {
  bool isPartial = false;       // OpenOp::partial is kept until the op is recomputed
  std::vector<Span> lives = {}; // in rising order
  Space away = Space::Device;   // where the results wait until the only life begins

  int64_t until() const { return lives.empty() ? 0 : lives.back().end; }
  // Whether the results are live at a tick.
  bool holds(int64_t tick) const {
    return std::any_of(lives.begin(), lives.end(),
                       [&](const Span &life) { return life.begin <= tick && tick < life.end; });
  }
};

// An op that may be kept or recomputed.
struct OpenOp {
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  int op = 0;
  int64_t forwardEnd = 0;                       // of its last reader in the forward part
  int64_t firstRead = kNone;                    // before its first reader outside
  int64_t lastRead = 0;                         // until then the decisions keep its results
  int64_t keptBytes = 0;                        // of the results that they keep
  int64_t outsideBytes = 0;                     // of those that no op of the forward part reads
  int64_t until = 0;                            // after the latest slot of any op that reads it
  std::optional<std::vector<int>> partial = {}; // results that may be kept without the others
  bool needsOperands = true;                    // if these are kept; else they suffice
  int64_t firstOther = kNone;                   // as firstRead, of the results but these
  std::vector<int64_t> slots = {};              // descending
  std::vector<std::vector<Span>> reads = {};    // per result outside: from the slot of the reader
  int64_t start = kNone;                        // of its segment
  std::set<int64_t> crossings = {};             // the starts of segments whose ops read it
  std::vector<int64_t> several = {};            // ascending: slots of choices with several lives
  int64_t place = 0, lastPlace = 0;             // of the op and its last reader, among the open ops
  std::vector<RematChoice> choices = {};

  // Whether a result may be kept without the others.
  bool isPartial(int result) const {
    return partial && std::find(partial->begin(), partial->end(), result) != partial->end();
  }
};

// Keeps references to all that it is made of.
class RematChoices {
public:
  // No op is recomputed more than `maxRecomputations` times. An op that may be recomputed several
  // times has the choice of all slots; or, if `shared` is not 0, of those of its segment of the
  // forward part, those of the segments that read it, and `shared` slots that all ops share.
  // Results may wait where `spaces` has bytes.
  RematChoices(const StepModel &model, const PricedDecisions &whole, const PinnedRemat &pinned,
               const OtherSpaces &spaces, int maxRecomputations, size_t shared);

  // Whether the choices are few enough to be solved. Of others, some are left out.
  bool isSmall() const;

  // In program order.
  const std::vector<OpenOp> &ops() const { return open_; }
  int numberOf(const OpenOp &open) const { return openOf_[open.op]; }
  // Null if this op of the model is not open.
  const OpenOp *find(int op) const { return openOf_[op] < 0 ? nullptr : &open_[openOf_[op]]; }
  // The ops of the model that an op reads, all of them open.
  const std::vector<int> &inputs(const OpenOp &open) const { return reads_.inputs[open.op]; }

  // Where ops may be recomputed several times, many recomputed ops stand before one reader, and few
  // of their results are live at the same time: an instant then has a tick for each op.
  int64_t tickOf(int64_t instant) const { return instant * ticks_; }
  int64_t instantOf(int64_t tick) const { return tick / ticks_; }

  // The ticks at which a choice recomputes the op.
  std::vector<int64_t> recomputationsOf(const OpenOp &open, const RematChoice &choice) const;
  // The op of the backward part directly before which ops recomputed at a tick stand.
  int readerAt(int64_t tick) const { return readerAt_.at(instantOf(tick)); }
  // Whether an op of the forward part reads the result: it may read it when it is recomputed, too.
  bool isReadForward(const OpenOp &open, int result) const;

private:
  int64_t beginOf(const OpenOp &open, int64_t slot) const { return tickOf(slot) + open.place; }
  // When the readers of an op that are recomputed at a slot have run.
  int64_t endOf(const OpenOp &open, int64_t slot) const {
    return tickOf(slot) + open.lastPlace + 1;
  }

  // Ops of the forward part with operands that are no views, and when their results are read.
  void findOpenOps();
  void findPlaces();
  void findPartial(OpenOp &open) const;
  // When the results are read, and first those that may not be kept alone.
  void findReads();
  void findKept(OpenOp &open);
  // From the last op to the first: the slots of an op are its own one and those of its readers.
  void findSlots();
  // The slots at which the backward part begins to read of each segment.
  void findSegments();
  void addChoices(OpenOp &open) const;
  // Choices with several lives.
  void addSeveral(OpenOp &open, const std::vector<int64_t> &ends) const;
  // Adds the choices that begin with these lives, of which the last one has no end yet, and go on
  // at the slots from number `next` on. A life ends after its readers, or where another op may
  // still be recomputed.
  void addLives(OpenOp &open, const std::vector<int64_t> &slots, size_t next,
                const std::vector<int64_t> &ends, std::vector<Span> &lives) const;

  const StepModel &model_;
  const PricedDecisions &whole_;
  const PinnedRemat &pinned_;
  const OtherSpaces spaces_;
  const int maxRecomputations_; // of one op
  const ForwardReads reads_;
  int64_t ticks_ = 1; // per instant
  std::vector<OpenOp> open_;
  std::vector<int> openOf_;         // per op of the model; -1: it is not open
  std::map<int64_t, int> readerAt_; // per slot the op outside of the forward part that follows
  std::vector<int64_t> starts_;     // of segments, if not all slots are taken
  size_t choices_ = 0;              // of all ops
};

} // namespace cleave::planner
