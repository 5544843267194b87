#include "test/unit/schedule_pipelines/Evaluated.h"

#include "compiler/schedule/pipelines/Check.h"

#include <catch2/catch.hpp>

namespace cleave::pipelines {

Order made(const std::string &schedule, const Shape &shape) {
  INFO(schedule << " on " << shape.ranks << " ranks of " << shape.stagesPerRank << " stages, "
                << shape.microBatches << " micro-batches");
  Result<Order> order = orderOf(schedule, shape);
  INFO(order.status().message());
  REQUIRE(order);
  const Status status = check(*order);
  INFO(status.message());
  REQUIRE(status.isOk());
  return *order;
}

Costs equalCosts(uint32_t stages, const StageCosts &costs, double transfer) {
  Costs all;
  all.stages.assign(stages, costs);
  all.transfer = transfer;
  return all;
}

Evaluation evaluated(const Order &order, const StageCosts &costs, double transfer) {
  Result<Evaluation> found = evaluate(order, equalCosts(order.stages, costs, transfer));
  INFO(found.status().message());
  REQUIRE(found);
  return *found;
}

std::string refusal(const Status &status) {
  REQUIRE_FALSE(status.isOk());
  CHECK(status.kind() == StatusKind::UserError);
  return status.message();
}

} // namespace cleave::pipelines
