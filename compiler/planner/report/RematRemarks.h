// RematRemarks: what is kept for the backward pass and what is recomputed, each value with its
// bytes and seconds, and with the price of memory at which its recompute decision would change.
#pragma once

#include "compiler/planner/network/Costs.h"
#include "compiler/planner/report/PlanReport.h"

namespace cleave::planner {

// The recomputed ops of a step, with their worth under these decisions.
std::vector<RecomputedOp> recomputedOps(Costs &costs, const Decisions &decisions);

// The kept results that the backward part reads, with their worth under these decisions.
std::vector<KeptValue> keptValuesOf(Costs &costs, const Decisions &decisions);

// One remark per value that is kept (kind `kept`) and per recomputed op (kind `recompute`).
std::vector<PlanRemark> remarksOnRemat(const PlanReport &plan);

// The bytes that wait or are not kept, and for which share of the step's clock.
std::string choiceText(const KeptValue &value);
std::string choiceText(const RecomputedOp &op);
// When the decision would change: the seconds of recomputing the value, and the price of memory
// from which on the other decision is the better one, for the value alone, beside the price that
// this plan pays (PlanReport::secondsPerByte).
std::string reasonText(const KeptValue &value, const PlanReport &plan);
std::string reasonText(const RecomputedOp &op, const PlanReport &plan);

} // namespace cleave::planner
