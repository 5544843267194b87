// Away: the marks of values that are kept outside of device memory while nothing reads them.
#pragma once

#include "runtime/base/Space.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace cleave::graph {

// The attribute of an op whose results are kept in another space between the forward and the
// backward part, and of an argument that lives there from step to step: its name.
inline constexpr llvm::StringLiteral kAway = "graph.away";

// The space that such an attribute names; device memory if it is null.
inline Space spaceOf(mlir::Attribute attribute) {
  auto text = mlir::dyn_cast_or_null<mlir::StringAttr>(attribute);
  return text ? findSpace(text.getValue()).value_or(Space::Device) : Space::Device;
}
inline mlir::StringAttr toAttribute(Space space, mlir::MLIRContext *context) {
  return mlir::StringAttr::get(context, llvm::StringRef(name(space)));
}

} // namespace cleave::graph
