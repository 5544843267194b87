// FateRemarks: what is kept for the backward pass and what is computed again, each value with its
// bytes and seconds, and with the price of memory at which its fate would change.
#pragma once

#include "compiler/planner/network/Costs.h"
#include "compiler/planner/report/PlanReport.h"

namespace cleave::planner {

// The repetitions of a step, with their worth under these decisions.
std::vector<Repetition> repetitionsOf(Costs &costs, const Decisions &decisions);

// What the backward part reads of the forward part, with its worth under these decisions.
std::vector<KeptValue> keptValuesOf(Costs &costs, const Decisions &decisions);

// One remark per value that is kept (kind `kept`) and per repetition (kind `again`).
std::vector<PlanRemark> remarksOnFates(const PlanReport &plan);

// What a fate takes: bytes and the share of the step's clock, seconds.
std::string choiceText(const KeptValue &value);
std::string choiceText(const Repetition &again);
// When it would change: the price of memory from which on the other fate is the better one, for the
// value alone, beside the price that this plan pays (PlanReport::secondsPerByte).
std::string reasonText(const KeptValue &value, const PlanReport &plan);
std::string reasonText(const Repetition &again, const PlanReport &plan);

} // namespace cleave::planner
