// The phase `planned`.
//
//  S1–S7  The signature is complete (Signature.cpp).
//  P1     The module has a mesh.mesh, and all shapes are static.
//  P2     Every argument has a mesh.sharding of its rank on that mesh, without partial axes;
//         its mesh.compute, if any, is such a layout, too.
//  P3     Every op has a mesh.strategy that splits the factors of its rule in a valid way
//         (isValidSplit); only a linear op has partial operands. No axis is used twice.
//  P4     The strategy gives every result a layout of its rank that is partial at most along the
//         axes along which the op leaves it partial, and combines by the op's reduction.
#include "passes/promise/Promise.h"

#include "compiler/analysis/Identity.h"
#include "dialects/mesh/MeshDialect.h"
#include "passes/promise/Rules.h"

#include <unordered_map>

using namespace mlir;

namespace cleave::promise {

static constexpr StringLiteral kPlannedPhase = "planned";

namespace {

class PlanChecker {
public:
  PlanChecker(func::FuncOp step, const Mesh &mesh) : step_(step), mesh_(mesh) {}

  LogicalResult check() {
    for (unsigned i = 0; i < step_.getNumArguments(); ++i)
      if (failed(checkArgument(i, mesh::kSharding, /*isNeeded=*/true)) ||
          failed(checkArgument(i, mesh::kCompute, /*isNeeded=*/false)))
        return failure();
    for (Operation &op : step_.getBody().front().without_terminator())
      if (failed(checkOp(&op)))
        return failure();
    return success();
  }

private:
  // P2
  LogicalResult checkArgument(unsigned i, StringRef name, bool isNeeded) {
    Attribute attr = step_.getArgAttr(i, name);
    if (!attr && !isNeeded)
      return success();
    Type type = step_.getArgumentTypes()[i];
    auto sharding = dyn_cast_if_present<mesh::ShardingAttr>(attr);
    std::optional<Sharding> plain = sharding ? mesh::toSharding(sharding, mesh_) : std::nullopt;
    if (!plain || !plain->partial.empty() || plain->dims.size() != graph::shapeOf(type).size()) {
      InFlightDiagnostic error = broken(step_.getLoc(), kPlannedPhase, "P2");
      error << "argument '" << graph::argName(step_, i) << "' has ";
      if (attr)
        return error << name << " " << attr << ", which is not a layout of " << type
                     << " on the mesh";
      return error << "no " << name;
    }
    return success();
  }

  const FactorRule &ruleOf(Operation *op) {
    auto [rule, isNew] = rules_.try_emplace(analysis::identityOf(op));
    if (isNew)
      rule->second = cast<graph::FactorRuleInterface>(op).getFactorRule();
    return rule->second;
  }

  LogicalResult checkOp(Operation *op) {
    auto attr = op->getAttrOfType<mesh::StrategyAttr>(mesh::kStrategy);
    std::optional<mesh::Strategy> strategy = attr ? mesh::toStrategy(attr, mesh_) : std::nullopt;
    if (!strategy)
      return broken(op, kPlannedPhase, "P3") << "has no mesh.strategy on the mesh";
    const FactorRule &rule = ruleOf(op);
    if (strategy->factors.size() != rule.factors.size() ||
        !isValidSplit(rule, strategy->factors, mesh_))
      return broken(op, kPlannedPhase, "P3")
             << "has a mesh.strategy that does not fit its factor rule " << rule.str();
    if (!strategy->partial.empty() && !rule.linear)
      return broken(op, kPlannedPhase, "P3") << "has partial operands, but is not linear";
    if (strategy->results.size() != op->getNumResults())
      return broken(op, kPlannedPhase, "P4")
             << "has " << op->getNumResults() << " results, but layouts of "
             << strategy->results.size();
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      if (failed(checkResult(op, i, rule, *strategy)))
        return failure();
    return success();
  }

  // P4
  LogicalResult checkResult(Operation *op, unsigned i, const FactorRule &rule,
                            const mesh::Strategy &strategy) {
    const Sharding &layout = strategy.results[i];
    if (layout.dims.size() != graph::shapeOf(op->getResult(i)).size())
      return broken(op, kPlannedPhase, "P4")
             << "has the layout " << layout.str(mesh_) << " for result " << i << " of type "
             << op->getResult(i).getType();
    Sharding natural = resultSharding(rule, i, strategy.factors);
    for (int axis : layout.partial)
      if (!llvm::is_contained(natural.partial, axis) && !llvm::is_contained(strategy.partial, axis))
        return broken(op, kPlannedPhase, "P4")
               << "has the layout " << layout.str(mesh_) << " for result " << i
               << ", but leaves it complete along " << mesh_.axes[axis].name;
    // Sums alone pass through a linear op.
    if (!layout.partial.empty() && layout.reduce != natural.reduce)
      return broken(op, kPlannedPhase, "P4")
             << "has the layout " << layout.str(mesh_) << " for result " << i
             << ", but its partial results combine by "
             << mesh::stringifyReduction(static_cast<mesh::Reduction>(natural.reduce));
    return success();
  }

  func::FuncOp step_;
  const Mesh &mesh_;
  std::unordered_map<std::string, FactorRule> rules_; // of ops, by identity
};

} // namespace

LogicalResult checkPlanned(ModuleOp module) {
  if (failed(checkSignature(module, kPlannedPhase, Tensors::Sharded)))
    return failure();
  func::FuncOp step = graph::stepOf(module);
  auto attr = module->getAttrOfType<mesh::MeshAttr>(mesh::kMesh);
  if (!attr)
    return broken(module.getLoc(), kPlannedPhase, "P1") << "the module has no mesh.mesh";
  WalkResult symbolic = step.getBody().walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (!graph::hasStaticShape(result.getType())) {
        broken(op, kPlannedPhase, "P1")
            << "has a result of type " << result.getType() << ", expected a static shape";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  if (symbolic.wasInterrupted())
    return failure();
  Mesh mesh = mesh::toMesh(attr);
  return PlanChecker(step, mesh).check();
}

} // namespace cleave::promise
