// Schedules in which a rank alternates one forward and one backward: 1F1B
// (https://arxiv.org/abs/2006.09503), interleaved 1F1B (https://arxiv.org/abs/2104.04473), and
// their zero-bubble forms ZB-H1 and ZB-H2 (https://arxiv.org/abs/2401.10241), which split the
// backward and delay weight gradients into the bubble.
//
// They differ in two numbers per rank and in whether the backward is split: forwards that a rank
// runs before its first backward, and input gradients that it runs before its first weight
// gradient. Both depend on the hops, the number of ranks between the rank and the last one, or
// before it.
#include "compiler/schedule/pipelines/RankWriter.h"
#include "compiler/schedule/pipelines/Schedules.h"

namespace cleave::pipelines {
namespace {

struct Rule {
  uint32_t forwardsPerHop; // more forwards at the beginning per rank between this and the last one
  bool isSplit;            // the backward runs as I and W
  uint32_t delayPerRank;   // W of a rank's k-th backward follows I of backward k + delay · rank
};

// A rank takes `round` micro-batches through its first stage, the same ones through its second, and
// so on, then the next ones; backwards do so from the last stage to the first.
struct Sequence {
  uint32_t ranks, perRank, round;

  uint32_t forwardStage(uint32_t rank, uint32_t k) const {
    return k / round % perRank * ranks + rank;
  }
  uint32_t backwardStage(uint32_t rank, uint32_t k) const {
    return (perRank - 1 - k / round % perRank) * ranks + rank;
  }
};

void writeRank(RankWriter writer, const Sequence &sequence, uint32_t rank, uint32_t count,
               const Rule &rule) {
  const uint32_t hops = sequence.ranks - 1 - rank;
  const uint32_t first =
      std::min(count, (sequence.perRank - 1) * sequence.round + rule.forwardsPerHop * hops);
  for (uint32_t k = 0; k < first; ++k)
    writer.forward(sequence.forwardStage(rank, k));
  for (uint32_t k = 0; k < count; ++k) {
    if (first + k < count)
      writer.forward(sequence.forwardStage(rank, first + k));
    if (!rule.isSplit)
      writer.backward(sequence.backwardStage(rank, k));
    else
      writer.inputGradient(sequence.backwardStage(rank, k));
    if (writer.waiting() > rule.delayPerRank * rank)
      writer.weightGradient();
  }
  while (writer.waiting() > 0)
    writer.weightGradient();
}

Result<Order> alternating(const Shape &shape, const Rule &rule) {
  const uint32_t rounds =
      shape.stagesPerRank == 1 ? 1 : std::max(1u, shape.microBatches / shape.ranks);
  if (shape.microBatches % rounds != 0)
    return Status::userError("found ", shape.microBatches, " micro-batches on ", shape.ranks,
                             " ranks of several stages; expected a multiple of ", rounds,
                             ", the number of rounds of at least one micro-batch per rank");
  Order order =
      emptyOrder(shape.ranks, loopPlacement(shape.ranks, shape.stagesPerRank), shape.microBatches);
  const Sequence sequence{shape.ranks, shape.stagesPerRank, shape.microBatches / rounds};
  for (uint32_t rank = 0; rank < shape.ranks; ++rank)
    writeRank(RankWriter(order, rank), sequence, rank, shape.microBatches * shape.stagesPerRank,
              rule);
  return order;
}

} // namespace

Result<Order> oneForwardOneBackward(const Shape &shape) {
  return alternating(shape, {1, false, 0});
}

// Two forwards per hop hide the transfers of the steady state.
Result<Order> interleaved(const Shape &shape) { return alternating(shape, {2, false, 0}); }

Result<Order> zeroBubbleH1(const Shape &shape) { return alternating(shape, {1, true, 1}); }

Result<Order> zeroBubbleH2(const Shape &shape) { return alternating(shape, {2, true, 2}); }

} // namespace cleave::pipelines
