// JointNetwork: the network of the step that keeps everything, with the recompute decisions of its
// ops as further costs of its nodes, for a price of memory at one instant. JointBound.h defines
// these costs.
#pragma once

#include "compiler/planner/network/PlanProblem.h"
#include "compiler/planner/remat/ChooseRemat.h"

#include <limits>
#include <map>
#include <tuple>

namespace cleave::planner {

// Keeps references to all that it is made of.
class JointNetwork {
public:
  // `kept`: the network without recomputation, of a model withRoomForRecomputation().
  JointNetwork(Costs &costs, const PlanProblem &kept, const PinnedRemat &pinned);

  // The network at a price per byte at one instant. Prices of nodes of equal layers are equal.
  const solver::Problem &priced(double price, int64_t instant);

  // The bytes at the instant of these choices, with their best recompute decisions; of the price
  // and the instant for which priced() was called last.
  int64_t bytesOf(const std::vector<int> &choices, double price, int64_t instant);

  // The instant at which these choices take the most bytes if all that is read is kept.
  int64_t fullest(const std::vector<int> &choices) const;
  // The fullest instant under the recompute decisions that are best at a price per byte at one
  // instant. Call priced() with this price and instant before.
  int64_t fullest(const std::vector<int> &choices, double price, int64_t instant);

  // The most seconds that the network of any price counts beside the price of memory.
  double worstSeconds();

private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  // The recompute decision of an op.
  enum class Remat { Kept, Gone, Recomputed, FromKept };

  // Instants at which an op certainly holds bytes under one of its recompute decisions.
  struct Life {
    Span span;
    int remat = 0;     // its position among those of the op
    int usage = -1;    // of the kept network's node: the bytes of its choices; -1: `bytes`
    int64_t bytes = 0; // of every choice
    const std::vector<int64_t> *blocks = nullptr; // the bytes of each choice, instead of both
    int64_t times = 1;                            // how many micro-batches hold them
  };

  // Seconds of an op under one recompute decision, excluding memory cost.
  struct RematPrice {
    Remat remat = Remat::Kept;
    std::vector<double> seconds = {}; // per choice of its node
  };

  // A node of the kept network with the recompute decisions of its op.
  struct JointNode {
    std::vector<RematPrice> remats = {};
    std::vector<Life> lives = {};
    std::vector<int> sources = {}; // ops that its recomputation needs, for recomputed ops alone
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

  int64_t fullest(const std::vector<int> &choices, const std::vector<int> &remats) const;

  // -- reads --------------------------------------------------------------------------------------

  void findReads();

  // Whether it runs where it stands, whatever is recomputed.
  bool isCertain(const Op &op) const;

  // Whether the operand is a value with a home of its own, and the first one that is this value.
  bool hasBlock(const Op &op, size_t operand) const;

  // Whether the node of a product counts the value at the instant.
  bool isReadByProduct(int value, int64_t instant) const;

  void findBlocks();

  // -- recompute decisions ------------------------------------------------------------------------

  void addRemats(int index);

  // The seconds of the op in the forward part and of its recomputation.
  void addSeconds(int index, RematPrice &price, std::vector<bool> needed,
                  const std::vector<bool> &direct, const std::vector<bool> &given,
                  bool mayRecompute);

  // The ops whose results a recomputation of the op needs, whatever part of the op it computes, and
  // that only recomputed ops read outside of the forward part.
  void findSources(int index, const std::vector<bool> &direct);
  // Values that only recomputed ops read are needed until the first of these is read.
  void findUntil();
  bool isReadByRecomputedOnly(int index) const;

  // -- lives --------------------------------------------------------------------------------------

  // Arguments are there all the time, and so is the copy of one that stays gathered, between the
  // forward and the backward part; other nodes keep what they have.
  void addOther(int v);

  void addLives(int index, int remat, const std::vector<bool> &direct,
                const std::vector<bool> &given);

  // What a product holds while it runs: the blocks that it reads, and its result, which takes the
  // place of none of them.
  void addBlocks(int index, int remat);

  // The bytes of the blocks that each choice reads; of a rest, which reads them in any layout,
  // equal shares.
  const std::vector<int64_t> &blocksOf(int index);

  // The life of a result, from the end of its kernel.
  void addLife(int index, int remat, int usage, bool isKept);

  // In a stage of a pipeline, what waits for the backward part of one micro-batch also waits for
  // those of others while it runs.
  void addWaiting(int index);
  // When others wait; empty without other micro-batches in flight.
  Span whileOthersWait() const;

  int64_t bytesOf(size_t v, const Life &life, size_t choice) const;

  // Per recompute decision and choice.
  std::vector<int64_t> bytesAt(size_t v, int64_t instant) const;

  // -- prices -------------------------------------------------------------------------------------

  // Each dependent's share of the cost of an op that only recomputed ops read: the cost of keeping
  // it or of computing it with its own sources, whichever is less, over the number of dependents.
  // With the bytes of all micro-batches, and with those alone of others in flight.
  void setShares(double price, int64_t instant);
  // The share of one op. `perByte`: seconds that keeping it costs; `shares`: those of its sources.
  double shareOf(size_t index, double perByte, const std::vector<double> &shares);
  double paidFor(const JointNode &node, const std::vector<double> &shares) const;
  // The same for a recomputed op: it may have run before the instant, where its sources are gone
  // then, but its results wait to be read. Sources that are kept wait for other micro-batches even
  // so.
  double paidFor(int index, double price) const;
  const SourceSeconds &sourceSeconds(size_t index);

  // The least seconds of a choice under any recompute decision, and the position of this decision.
  std::pair<double, int> bestRemat(size_t v, size_t choice, double price,
                                   const std::vector<int64_t> &bytes) const;

  // -- edges --------------------------------------------------------------------------------------

  // Whether a group reads a value by this edge only for results that it may leave to its
  // recomputation.
  bool isDroppable(const solver::Edge &edge) const;
  bool comesFrom(int value, int node) const;

  Costs &costs_;
  const StepModel &model_;
  const PlanProblem &kept_; // the network of the step that keeps everything
  const PinnedRemat &pinned_;
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
  using SecondsKey =
      std::tuple<const PricedOp *, Remat, bool, std::vector<bool>, std::vector<bool>>;
  std::map<SecondsKey, std::vector<double>> seconds_;
  std::map<const PricedOp *, SourceSeconds> sources_;
};

} // namespace cleave::planner
