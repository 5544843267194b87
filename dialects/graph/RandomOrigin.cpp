// See RandomOrigin.h.
#include "dialects/graph/RandomOrigin.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace cleave::graph {

Attribute toAttribute(const RandomOrigin &origin, MLIRContext *context) {
  Builder b(context);
  return b.getDictionaryAttr(
      {b.getNamedAttr("random", b.getStringAttr(origin.isNormal ? "normal" : "uniform")),
       b.getNamedAttr("scale", b.getF64FloatAttr(origin.scale))});
}

std::optional<RandomOrigin> toRandomOrigin(Attribute attribute) {
  auto entries = dyn_cast<DictionaryAttr>(attribute);
  auto random = entries ? entries.getAs<StringAttr>("random") : StringAttr();
  auto scale = entries ? entries.getAs<FloatAttr>("scale") : FloatAttr();
  if (!random || !scale)
    return std::nullopt;
  return RandomOrigin{random == "normal", scale.getValueAsDouble()};
}

} // namespace cleave::graph
