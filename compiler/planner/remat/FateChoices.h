// FateChoices: the ops whose fates are open, and the choices of each: from when to when its results
// are in memory behind the forward part. What a choice costs, and which go together: ChooseFates.h.
//
// A slot is the instant before a reader of the backward part. An op runs again at slots of its own
// readers and of ops that read it, which may run again there.
#pragma once

#include "compiler/planner/remat/ChooseFates.h"

#include <limits>
#include <map>
#include <set>

namespace cleave::planner {

// One choice of a node: from when to when the results are in memory behind the forward part, in
// ticks. What is kept is there from the end of its last reader in the forward part; every other
// life begins with a repetition.
struct FateChoice {
  bool isPartial = false;       // OpenOp::partial is kept until the op runs again
  std::vector<Span> lives = {}; // in rising order
  Space away = Space::Device;   // until the only life begins the results are there

  int64_t until() const { return lives.empty() ? 0 : lives.back().end; }
  // Whether the results are there at a tick.
  bool holds(int64_t tick) const {
    return std::any_of(lives.begin(), lives.end(),
                       [&](const Span &life) { return life.begin <= tick && tick < life.end; });
  }
};

// An op whose fate is open.
struct OpenOp {
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  int op = 0;
  int64_t forwardEnd = 0;                       // of its last reader in the forward part
  int64_t firstRead = kNone;                    // before its first reader outside
  int64_t lastRead = 0;                         // until then the decisions keep its results
  int64_t keptBytes = 0;                        // of the results that they keep
  int64_t outsideBytes = 0;                     // of those that no op of the forward part reads
  int64_t until = 0;                            // behind the latest slot of any op that reads it
  std::optional<std::vector<int>> partial = {}; // results that may be kept without the others
  bool needsOperands = true;                    // if these are kept; else they suffice
  int64_t firstOther = kNone;                   // as firstRead, of the results but these
  std::vector<int64_t> slots = {};              // descending
  std::vector<std::vector<Span>> reads = {};    // per result outside: from the slot of the reader
  int64_t start = kNone;                        // of its segment
  std::set<int64_t> crossings = {};             // the starts of segments whose ops read it
  std::vector<int64_t> several = {};            // ascending: slots of choices with several lives
  int64_t place = 0, lastPlace = 0; // of the op and its last reader, among those that may run again
  std::vector<FateChoice> choices = {};

  // Whether a result may be kept without the others.
  bool isPartial(int result) const {
    return partial && std::find(partial->begin(), partial->end(), result) != partial->end();
  }
};

// Keeps references to all that it is made of.
class FateChoices {
public:
  // No op runs again more than `repetitions` times. An op that may run again several times does so
  // at all slots; or, if `shared` is not 0, at those of its segment of the forward part, of the
  // segments that read it, and at so many that all ops share. Results may wait where `spaces` has
  // bytes.
  FateChoices(const StepModel &model, const PricedDecisions &whole, const ForcedFates &forced,
              const OtherSpaces &spaces, int repetitions, size_t shared);

  // Whether the choices are few enough to be solved. Of others, some are left out.
  bool isSmall() const;

  // In program order.
  const std::vector<OpenOp> &ops() const { return open_; }
  int numberOf(const OpenOp &open) const { return openOf_[open.op]; }
  // Null if the fate of this op of the model is not open.
  const OpenOp *find(int op) const { return openOf_[op] < 0 ? nullptr : &open_[openOf_[op]]; }
  // The ops of the model that an op reads, all of them open.
  const std::vector<int> &inputs(const OpenOp &open) const { return reads_.inputs[open.op]; }

  // Where ops may run again several times, many repetitions stand before one reader, and few of
  // their results are there at the same time: an instant has a tick for each op then.
  int64_t tickOf(int64_t instant) const { return instant * ticks_; }
  int64_t instantOf(int64_t tick) const { return tick / ticks_; }

  // The ticks at which a choice lets the op run again.
  std::vector<int64_t> repetitionsOf(const OpenOp &open, const FateChoice &choice) const;
  // The op of the backward part before which what runs again at a tick stands.
  int readerAt(int64_t tick) const { return readerAt_.at(instantOf(tick)); }
  // Whether an op of the forward part reads the result: its repetitions may read it again.
  bool isReadForward(const OpenOp &open, int result) const;

private:
  int64_t beginOf(const OpenOp &open, int64_t slot) const { return tickOf(slot) + open.place; }
  // When the repetitions of an op's readers at a slot have run.
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
  // at the slots from number `next` on. A life ends behind what reads it, or where another op may
  // still run again.
  void addLives(OpenOp &open, const std::vector<int64_t> &slots, size_t next,
                const std::vector<int64_t> &ends, std::vector<Span> &lives) const;

  const StepModel &model_;
  const PricedDecisions &whole_;
  const ForcedFates &forced_;
  const OtherSpaces spaces_;
  const int repetitions_; // how often an op may run again at most
  const ForwardReads reads_;
  int64_t ticks_ = 1; // per instant
  std::vector<OpenOp> open_;
  std::vector<int> openOf_;         // per op of the model; -1: its fate is not open
  std::map<int64_t, int> readerAt_; // per slot the op outside of the forward part that follows
  std::vector<int64_t> starts_;     // of segments, if not all slots are taken
  size_t choices_ = 0;              // of all ops
};

} // namespace cleave::planner
