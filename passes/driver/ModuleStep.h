// ModuleStep: the step of a module of the phase `primitive`, as the planner's search needs it:
// copies in which ops are recomputed, and the memory of the programs that decisions lead to.
#pragma once

#include "compiler/planner/search/Step.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <utility>

namespace cleave::driver {

// The step of a module with the buffers of its program. A user error if it cannot be read or has no
// program.
Result<planner::StepModel> readModel(mlir::ModuleOp module);

class ModuleStep final : public planner::Step {
public:
  // Copies the module. Errors as of readModel.
  static Result<ModuleStep> read(mlir::ModuleOp module);

  const planner::StepModel &model() const override { return model_; }
  Result<std::unique_ptr<planner::Step>> realise(const planner::RematPolicy &policy) const override;
  Result<planner::ProgramMemory> memory(const planner::Decisions &decisions,
                                        const cluster::Cluster &shared,
                                        const planner::Budget &budget) const override;

  // The module and the model, which leave the step.
  mlir::OwningOpRef<mlir::ModuleOp> takeModule() { return std::move(module_); }
  planner::StepModel takeModel() { return std::move(model_); }

private:
  ModuleStep(mlir::OwningOpRef<mlir::ModuleOp> module, planner::StepModel model)
      : module_(std::move(module)), model_(std::move(model)) {}

  mlir::OwningOpRef<mlir::ModuleOp> module_;
  planner::StepModel model_;
};

} // namespace cleave::driver
