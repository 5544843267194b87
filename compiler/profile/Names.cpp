// The importer sets locations of the form NameLoc(node, NameLoc(module)).
#include "compiler/profile/Names.h"

#include "mlir/IR/Location.h"

using namespace mlir;

namespace cleave::profile {

// A fused location has the names of its first named part.
static NameLoc namedLocation(Location location) {
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      if (auto name = dyn_cast<NameLoc>(part))
        return name;
    return {};
  }
  return dyn_cast<NameLoc>(location);
}

std::string nodeOf(Operation *op) {
  if (NameLoc name = namedLocation(op->getLoc()))
    return name.getName().str();
  return op->getName().stripDialect().str();
}

std::string moduleOf(Operation *op) {
  if (NameLoc name = namedLocation(op->getLoc()))
    if (auto module = dyn_cast<NameLoc>(name.getChildLoc()))
      return module.getName().str();
  return {};
}

} // namespace cleave::profile
