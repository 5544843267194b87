// Record: what a compilation has found out besides the step, as attributes of its module. Every
// phase keeps them, so that a plan that is made from the text of a phase says the same as one that
// is made from the model.
//   graph.phase = "planned"                            the phase that left the module
//   graph.remarks = [["frozen", "…"], …]               Compilation::remarks
//   mesh.plan = {seconds = 0.012, …, decisions = […]}  from the phase `planned` on
#pragma once

#include "passes/driver/Compile.h"

namespace cleave::driver {

// Sets graph.phase and graph.remarks.
void recordProgress(Compilation &compilation, const char *phase);
// Takes both from a copy of the module that is to be part of it (Evaluation.h).
void dropProgress(mlir::ModuleOp module);
// The name of the phase that left the module; empty if it is not recorded.
std::string recordedPhase(mlir::ModuleOp module);
std::vector<Remark> recordedRemarks(mlir::ModuleOp module);

// Sets mesh.plan: the decisions of `plan`, and those fields of its prediction that are the
// planner's: planned_seconds, bound_seconds, gap, peak_bytes, model_flops, peak_seconds, peak_type,
// budget_bytes, is_memory_binding, is_calibrated.
void recordDecisions(mlir::ModuleOp module, const plan::Plan &plan);
// Adds them to a plan. Entries that are malformed count as missing.
void addRecordedDecisions(mlir::ModuleOp module, plan::Plan &plan);

} // namespace cleave::driver
