// JointNetwork: the network of the step that keeps everything, with the fates of its ops as further
// costs of its nodes, for a price of memory at one instant. What it counts: JointBound.h.
#pragma once

#include "compiler/planner/network/PlanProblem.h"
#include "compiler/planner/remat/ChooseFates.h"

#include <limits>
#include <map>
#include <tuple>

namespace cleave::planner {

// Keeps references to all that it is made of.
class JointNetwork {
public:
  // `kept`: the network without fates, of a model withRoomForRepetitions().
  JointNetwork(Costs &costs, const PlanProblem &kept, const ForcedFates &forced);

  // The network at a price per byte at one instant. Prices of nodes of equal layers are equal.
  const solver::Problem &priced(double price, int64_t instant);

  // The bytes at the instant of these choices, with their best fates; of the price and the instant
  // for which priced() was called last.
  int64_t bytesOf(const std::vector<int> &choices, double price, int64_t instant);

  // The instant at which these choices take the most bytes if all that is read is kept.
  int64_t fullest(const std::vector<int> &choices) const;
  // The same with the fates that are best at a price per byte at one instant, those for which
  // priced() was called last.
  int64_t fullest(const std::vector<int> &choices, double price, int64_t instant);

  // The most seconds that the network of any price counts beside the price of memory.
  double worstSeconds();

private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  enum class Fate { Kept, Gone, Again, FromKept };

  // Instants at which an op with one of its fates certainly holds bytes.
  struct Life {
    Span span;
    int fate = 0;      // its position among those of the op
    int usage = -1;    // of the kept network's node: the bytes of its choices; -1: `bytes`
    int64_t bytes = 0; // of every choice
    const std::vector<int64_t> *blocks = nullptr; // the bytes of each choice, instead of both
    int64_t times = 1;                            // how many micro-batches hold them
  };

  // What an op takes with one of its fates, whichever bytes that holds.
  struct FatePrice {
    Fate fate = Fate::Kept;
    std::vector<double> seconds = {}; // per choice of its node
  };

  // A node of the kept network with the fates of its op.
  struct JointNode {
    std::vector<FatePrice> fates = {};
    std::vector<Life> lives = {};
    std::vector<int> sources = {}; // ops that its repetition needs and that only repetitions read
    int dependents = 0;            // ops of which it is such a source
  };

  // The cost of recomputing an op whose result only recomputed ops read, over all its choices.
  struct SourceSeconds {
    int64_t leastBytes = kNever; // of its result
    double least = solver::kForbidden;
    double most = 0; // of those that are possible
  };

  // When a value is read, through views too: instants at which reading kernels begin.
  struct Reads {
    int64_t firstForward = kNever, lastForward = -1;
    int64_t firstOutside = kNever, lastOutside = -1;

    bool isDirect() const { return firstOutside < kNever; } // the backward part reads it itself
    bool isForward() const { return lastForward >= 0; }
  };

  int64_t fullest(const std::vector<int> &choices, const std::vector<int> &fates) const;

  // -- reads --------------------------------------------------------------------------------------

  void findReads();

  // Whether it runs where it stands, whatever is repeated.
  bool isCertain(const Op &op) const;

  // Whether the operand is a value with a home of its own, and the first one that is this value.
  bool hasBlock(const Op &op, size_t operand) const;

  // Whether the node of a product counts the value at the instant.
  bool isReadByProduct(int value, int64_t instant) const;

  void findBlocks();

  // -- fates --------------------------------------------------------------------------------------

  void addFates(int index);

  // The seconds of the op in the forward part and of its repetition.
  void addSeconds(int index, FatePrice &price, std::vector<bool> needed,
                  const std::vector<bool> &direct, const std::vector<bool> &given, bool mayRepeat);

  // The ops whose results a repetition needs, however little of them it computes, and that nothing
  // but repetitions reads outside of the forward part.
  void findSources(int index, const std::vector<bool> &direct);
  // What only repetitions read is needed until the first of them is read.
  void findUntil();
  bool isOnlyRepeated(int index) const;

  // -- lives --------------------------------------------------------------------------------------

  // Arguments are there all the time, and so is the copy of one that stays gathered, between the
  // forward and the backward part; other nodes keep what they have.
  void addOther(int v);

  void addLives(int index, int fate, const std::vector<bool> &direct,
                const std::vector<bool> &given);

  // What a product holds while it runs: the blocks that it reads, and its result, which takes the
  // place of none of them.
  void addBlocks(int index, int fate);

  // The bytes of the blocks that each choice reads; of a rest, which reads them in any layout,
  // equal shares.
  const std::vector<int64_t> &blocksOf(int index);

  // The life of a result, from the end of its kernel.
  void addLife(int index, int fate, int usage, bool isKept);

  // In a stage of a pipeline, what waits for the backward part of one micro-batch also waits for
  // those of others while it runs.
  void addWaiting(int index);
  // When others wait; empty without other micro-batches in flight.
  Span whileOthersWait() const;

  int64_t bytesOf(size_t v, const Life &life, size_t choice) const;

  // Per fate and choice.
  std::vector<int64_t> bytesAt(size_t v, int64_t instant) const;

  // -- prices -------------------------------------------------------------------------------------

  // What one of its dependents pays for an op that only repetitions read: the least of keeping it
  // and computing it, with its own sources, over their number. With the bytes of all micro-batches,
  // and with those alone of others in flight.
  void setShares(double price, int64_t instant);
  // The share of one op. `perByte`: seconds that keeping it costs; `shares`: those of its sources.
  double shareOf(size_t index, double perByte, const std::vector<double> &shares);
  double paidFor(const JointNode &node, const std::vector<double> &shares) const;
  // The same for a repetition: it may have run before the instant, where its sources are gone then,
  // but its results wait to be read. Sources that are kept wait for other micro-batches even so.
  double paidFor(int index, double price) const;
  const SourceSeconds &sourceSeconds(size_t index);

  // The least seconds of a choice with any fate, and the position of this fate.
  std::pair<double, int> bestFate(size_t v, size_t choice, double price,
                                  const std::vector<int64_t> &bytes) const;

  // -- edges --------------------------------------------------------------------------------------

  // Whether a group reads a value by this edge only for results that it may leave to repetitions.
  bool isDroppable(const solver::Edge &edge) const;
  bool comesFrom(int value, int node) const;

  Costs &costs_;
  const StepModel &model_;
  const PlanProblem &kept_; // the network of the step that keeps everything
  const ForcedFates &forced_;
  std::vector<Reads> reads_;  // per value that is no view
  std::vector<bool> hasHome_; // per value
  // Per value when products run whose nodes count it in the layout in which they read it.
  std::vector<std::vector<Span>> ofProducts_;
  std::map<std::pair<const PricedOp *, std::vector<bool>>, std::vector<int64_t>> blocks_;
  std::vector<int64_t> firstBehind_; // per op the first direct read of what depends on it
  std::vector<JointNode> nodes_;     // as in the kept network
  Span others_;                      // see whileOthersWait()
  std::vector<int64_t> until_;       // per op, see findUntil()
  std::vector<double> shares_, sharesOfOthers_; // per op, see setShares()
  solver::Problem priced_;
  using SecondsKey = std::tuple<const PricedOp *, Fate, bool, std::vector<bool>, std::vector<bool>>;
  std::map<SecondsKey, std::vector<double>> seconds_;
  std::map<const PricedOp *, SourceSeconds> sources_;
};

} // namespace cleave::planner
