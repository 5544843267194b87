// Step: a training step as the search needs it: its plain data, copies in which recomputation is
// realised, and the memory of its programs. Copies and programs need the IR, which the planner does
// not include: passes/driver/ModuleStep.h implements them.
#pragma once

#include "compiler/planner/remat/RematPolicy.h"
#include "compiler/planner/search/Fit.h"

#include <memory>

namespace cleave::planner {

class Step {
public:
  virtual ~Step() = default;

  virtual const StepModel &model() const = 0;

  // A copy of the step in which ops are recomputed and values are kept as the policy says. A user
  // error if the copy cannot be read.
  virtual Result<std::unique_ptr<Step>> realise(const RematPolicy &policy) const = 0;

  // The memory of the program that these decisions on the step lead to. With a limited budget, the
  // arena is the first one found within it. `shared`: the cluster as the mesh's ranks see it
  // (cluster::forRanks). A defect if lowering fails.
  virtual Result<ProgramMemory> memory(const Decisions &decisions, const cluster::Cluster &shared,
                                       const Budget &budget) const = 0;
};

} // namespace cleave::planner
