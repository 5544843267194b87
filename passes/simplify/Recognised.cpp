// See Recognised.h.
#include "passes/simplify/Recognised.h"

#include "dialects/graph/Graph.h"
#include "dialects/graph/Step.h"

using namespace mlir;

namespace cleave::simplify {

// The op's name and its flags.
static std::string nameOf(Operation *op) {
  std::string name = op->getName().stripDialect().str();
  for (NamedAttribute attribute : op->getAttrs())
    if (isa<UnitAttr>(attribute.getValue()))
      name += " " + attribute.getName().str();
  auto attention = dyn_cast<graph::AttentionOp>(op);
  if (attention && attention.headsPerGroup() > 1)
    name += " grouped";
  if (attention && attention.getDropout())
    name += " dropout";
  return name;
}

static bool isEmbedding(graph::GatherOp op, func::FuncOp step) {
  auto table = dyn_cast<BlockArgument>(op.getOperand());
  return table && op.getDim() == 0 && op.getBatch() == 0 &&
         graph::argRole(step, table.getArgNumber()) == Role::Parameter;
}

// silu(x) y, as in the feed-forward layers of Llama.
static bool isSwiglu(graph::MulOp op) {
  return bool(op.getLhs().getDefiningOp<graph::SiluOp>()) !=
         bool(op.getRhs().getDefiningOp<graph::SiluOp>());
}

std::map<std::string, int64_t> recognisedIn(func::FuncOp step) {
  std::map<std::string, int64_t> count;
  step.walk([&](Operation *op) {
    if (isa<graph::DecompositionInterface>(op))
      ++count[nameOf(op)];
    if (auto gather = dyn_cast<graph::GatherOp>(op); gather && isEmbedding(gather, step))
      ++count["embedding"];
    if (auto mul = dyn_cast<graph::MulOp>(op); mul && isSwiglu(mul))
      ++count["swiglu"];
  });
  return count;
}

std::string recognisedText(func::FuncOp step) {
  std::string text;
  for (const auto &[name, number] : recognisedIn(step))
    text += (text.empty() ? "" : ", ") + std::to_string(number) + " " + name;
  return text;
}

} // namespace cleave::simplify
