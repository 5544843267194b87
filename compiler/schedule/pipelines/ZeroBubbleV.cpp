// ZB-V (https://arxiv.org/abs/2401.10241, section 6): zero bubble on two stages per rank in a V,
// with as many micro-batches in flight on every rank as 1F1B's first rank has.
#include "compiler/schedule/pipelines/Check.h"
#include "compiler/schedule/pipelines/RankWriter.h"
#include "compiler/schedule/pipelines/Schedules.h"

namespace cleave::pipelines {
namespace {

// `low` is the stage of the way there, `high` that of the way back.
void writeRank(RankWriter writer, uint32_t rank, uint32_t ranks, uint32_t microBatches) {
  const uint32_t low = rank, high = 2 * ranks - 1 - rank;
  const auto inputAndWeight = [&](uint32_t stage) {
    writer.inputGradient(stage);
    writer.weightGradient(stage);
  };
  for (uint32_t i = 0; i < 2 * (ranks - rank) - 1; ++i)
    writer.forward(low);
  for (uint32_t i = 0; i < rank; ++i) {
    writer.forward(high);
    writer.forward(low);
  }
  for (uint32_t i = 0; i < ranks - rank; ++i) {
    writer.forward(high);
    inputAndWeight(high);
  }
  while (writer.nextForwardOf(high) < microBatches) {
    if (writer.nextForwardOf(low) < microBatches)
      writer.forward(low);
    inputAndWeight(low);
    writer.forward(high);
    inputAndWeight(high);
  }
  for (uint32_t i = 0; i < rank; ++i) {
    writer.inputGradient(low);
    writer.inputGradient(high);
  }
  for (uint32_t i = 0; i < ranks - rank; ++i) {
    writer.inputGradient(low);
    writer.weightGradient(low);
  }
  for (uint32_t stage : {high, low})
    while (writer.weightGradient(stage)) {
    }
}

} // namespace

// The rule is made for 2·ranks - 1 micro-batches or more; with fewer, the last ones are left out.
Result<Order> zeroBubbleV(const Shape &shape) {
  const uint32_t written = std::max(shape.microBatches, 2 * shape.ranks - 1);
  if (size_t(written) * 2 * shape.ranks > kMostPairs)
    return Status::userError("found ", shape.ranks, " ranks; the rule needs more than ", kMostPairs,
                             " pairs of a stage and a micro-batch for them");
  Order order = emptyOrder(shape.ranks, vPlacement(shape.ranks), written);
  for (uint32_t rank = 0; rank < shape.ranks; ++rank) {
    writeRank(RankWriter(order, rank), rank, shape.ranks, written);
    std::erase_if(order.tasks[rank], [&](const Task &task) {
      return task.actions().front().microBatch >= shape.microBatches;
    });
  }
  order.pipelineOf.resize(shape.microBatches);
  return order;
}

} // namespace cleave::pipelines
