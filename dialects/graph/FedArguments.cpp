// See FedArguments.h.
#include "dialects/graph/FedArguments.h"

using namespace mlir;

namespace cleave::graph {

bool isFed(func::FuncOp step, unsigned i) {
  return argRole(step, i) == Role::Input || argRole(step, i) == Role::Label;
}

StringRef allOf(func::FuncOp step, unsigned i) {
  auto name = step.getArgAttrOfType<StringAttr>(i, kAllOf);
  return name ? name.getValue() : StringRef();
}

} // namespace cleave::graph
