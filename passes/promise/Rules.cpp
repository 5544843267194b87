// See Rules.h.
#include "passes/promise/Rules.h"

#include "compiler/analysis/Identity.h"
#include "dialects/graph/F32Region.h"
#include "dialects/graph/Provenance.h"
#include "dialects/graph/StopGradient.h"
#include "passes/fuse/Groups.h"

#include <unordered_set>

using namespace mlir;

namespace cleave::promise {

InFlightDiagnostic broken(Location location, StringRef phase, StringRef rule) {
  return emitError(location) << phase << " " << rule << ": ";
}

InFlightDiagnostic broken(Operation *op, StringRef phase, StringRef rule) {
  return broken(op->getLoc(), phase, rule) << op->getName() << " ";
}

LogicalResult checkSource(Operation *at, StringRef phase, StringRef rule, const Twine &what,
                          Attribute source) {
  if (!source)
    return broken(at->getLoc(), phase, rule) << what << " has no graph.source";
  if (!graph::isOrigin(source))
    return broken(at->getLoc(), phase, rule)
           << what << " has the graph.source " << source
           << ", expected {path, offset, bytes, element}, {fill}, {data} or {random, scale}";
  if (graph::isInFile(source) && !graph::sourceModelOf(at->getParentOfType<ModuleOp>()))
    return broken(at->getLoc(), phase, rule)
           << what
           << " is read from a file, but the module has no graph.model = {path, bytes}; compile "
              "the model again, or give the value another source, such as {fill = 0.0 : f64}";
  return success();
}

LogicalResult checkNoGradientStops(func::FuncOp step, StringRef phase, StringRef rule) {
  WalkResult result = step.walk([&](graph::StopGradientOp op) {
    broken(op, phase, rule) << "is left, expected none in a step of which no gradient is taken";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult checkNoF32Borders(func::FuncOp step, StringRef phase, StringRef rule) {
  for (Operation &op : step.getBody().front())
    if (isa<graph::EnterF32Op, graph::LeaveF32Op>(op))
      return broken(&op, phase, rule) << "is left, expected none after --dtype was applied";
  return success();
}

LogicalResult checkNothingLoose(func::FuncOp step, StringRef phase, StringRef rule) {
  for (Operation &op : step.getBody().front().without_terminator())
    if ((fuse::isComputeOp(&op) || (fuse::isClonable(&op) && !op.hasTrait<graph::LayoutOnly>())) &&
        !graph::splatValue(op.getResult(0)))
      return broken(&op, phase, rule) << "is outside of kernel groups, expected it inside one";
  return success();
}

LogicalResult checkGroups(func::FuncOp step, StringRef phase, StringRef rule) {
  std::unordered_set<std::string> alike; // groups that have been checked
  for (auto group : step.getBody().front().getOps<graph::FusionOp>())
    if (alike.insert(analysis::identityOf(group)).second && !fuse::isOneKernel(group))
      return broken(group, phase, rule)
             << "is no kernel group that the rules of passes/fuse/Groups.h allow";
  return success();
}

bool shareRank(program::ProgramOp a, program::ProgramOp b) {
  if (!a.getRanks() || !b.getRanks())
    return true;
  return llvm::any_of(*a.getRanks(),
                      [&](int64_t rank) { return llvm::is_contained(*b.getRanks(), rank); });
}

} // namespace cleave::promise
