// DualPipe and DualPipe-V (https://github.com/deepseek-ai/DualPipe,
// https://arxiv.org/abs/2412.19437): each rank has a stage near the beginning of a chain and one
// near the end, and overlaps a forward of one with a backward of the other. DualPipe has two
// pipelines in opposite directions, DualPipe-V one in a V.
#include "compiler/schedule/pipelines/RankWriter.h"
#include "compiler/schedule/pipelines/Schedules.h"

namespace cleave::pipelines {
namespace {

// The place of a rank among those that one micro-batch passes up to the turn, or up to the middle.
struct Place {
  uint32_t half;         // ranks up to there
  uint32_t hops;         // of them, before this rank
  uint32_t microBatches; // of each of the two stages
  uint32_t near, far;    // stages: that of the beginning of its chain, and that of the end
};

void writeFirst(RankWriter &writer, const Place &place) {
  const uint32_t after = place.half - place.hops - 1; // ranks up to the turn
  for (uint32_t i = 0; i < 2 * after; ++i)
    writer.forward(place.near);
  for (uint32_t i = 0; i < place.hops + 1; ++i) {
    writer.forward(place.near);
    writer.forward(place.far);
  }
  for (uint32_t i = 0; i < after; ++i) {
    writer.inputGradient(place.far);
    writer.weightGradient();
    writer.forward(place.far);
  }
}

void writeOverlapped(RankWriter &writer, const Place &place) {
  const uint32_t after = place.half - place.hops - 1;
  for (uint32_t i = 0; i < place.microBatches - 2 * place.half + place.hops + 1; ++i) {
    if (i == 0 && after == 0) { // the backward has to wait for the forward before it: no overlap
      writer.forward(place.near);
      writer.backward(place.far);
    } else {
      writer.overlap(place.near, place.far);
    }
    writer.overlap(place.far, place.near);
  }
  for (uint32_t i = 0; i < after; ++i) {
    writer.backward(place.far);
    writer.overlap(place.far, place.near);
  }
}

// The second half of the last backwards is split, and its weight gradients fill the end.
void writeLast(RankWriter &writer, const Place &place) {
  const uint32_t pairs = place.hops + 1, after = place.half - place.hops - 1;
  for (uint32_t i = 0; i < 2 * pairs; ++i) {
    const uint32_t stage = i % 2 == 0 ? place.far : place.near;
    if (i < pairs)
      writer.backward(stage);
    else
      writer.inputGradient(stage);
  }
  for (uint32_t i = 0; i < after; ++i) {
    writer.weightGradient();
    writer.inputGradient(place.near);
  }
  for (uint32_t i = 0; i < pairs; ++i)
    writer.weightGradient();
}

void writeRank(RankWriter writer, const Place &place) {
  writeFirst(writer, place);
  writeOverlapped(writer, place);
  writeLast(writer, place);
}

Status checkMicroBatches(const Shape &shape) {
  if (shape.microBatches < 2 * shape.ranks)
    return Status::userError("found ", shape.microBatches, " micro-batches on ", shape.ranks,
                             " ranks; expected at least two per rank");
  return Status::ok();
}

} // namespace

Result<Order> dualPipe(const Shape &shape) {
  const uint32_t ranks = shape.ranks, each = shape.microBatches / 2;
  CLEAVE_TRY(checkMicroBatches(shape));
  if (ranks % 2 != 0 || shape.microBatches % 2 != 0)
    return Status::userError("found ", ranks, " ranks and ", shape.microBatches,
                             " micro-batches; expected even numbers, half for each direction");
  std::vector<uint32_t> rankOf = loopPlacement(ranks, 1);
  for (uint32_t stage = 0; stage < ranks; ++stage)
    rankOf.push_back(ranks - 1 - stage);
  Order order = emptyOrder(ranks, std::move(rankOf), shape.microBatches);
  order.stages = ranks;
  std::fill(order.pipelineOf.begin() + each, order.pipelineOf.end(), 1);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const uint32_t hops = std::min(rank, ranks - 1 - rank);
    const uint32_t there = rank, back = ranks + ranks - 1 - rank; // of pipelines 0 and 1
    const bool isNearFirst = rank < ranks / 2;
    writeRank(RankWriter(order, rank),
              {ranks / 2, hops, each, isNearFirst ? there : back, isNearFirst ? back : there});
  }
  return order;
}

Result<Order> dualPipeV(const Shape &shape) {
  CLEAVE_TRY(checkMicroBatches(shape));
  Order order = emptyOrder(shape.ranks, vPlacement(shape.ranks), shape.microBatches);
  for (uint32_t rank = 0; rank < shape.ranks; ++rank)
    writeRank(RankWriter(order, rank),
              {shape.ranks, rank, shape.microBatches, rank, 2 * shape.ranks - 1 - rank});
  return order;
}

} // namespace cleave::pipelines
