// DescribePlan: the planner's decisions in the terms of the plan file.
#pragma once

#include "passes/driver/Compile.h"

namespace cleave::driver {

// Adds the decisions about layouts, recomputation, meshes, axes and the strategy, the answers of
// --what-if, and those fields of the prediction that Record.h lists, to `out`. The plan is
// c.report, on `model`, which was read from c.module().
Status describePlan(const Compilation &c, const planner::StepModel &model, plan::Plan &out);

// Adds a remark of the kind `hint` if the products of the plan compute in f32 on devices that are
// much faster in bf16.
void suggestLowType(Compilation &c, const plan::Plan &described);

// Adds a decision; its other fields stay empty.
plan::Decision &addDecision(plan::Plan &plan, const std::string &name, const std::string &kind,
                            const std::string &choice, const std::string &reason);

} // namespace cleave::driver
