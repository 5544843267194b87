// See KnownStrings.h.
#include "dialects/graph/KnownStrings.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace cleave::graph {

static constexpr StringLiteral kAttribute = "graph.known_strings";

void addKnownStrings(ModuleOp module, const KnownStrings &strings) {
  Builder b(module.getContext());
  SmallVector<Attribute> all, elements;
  if (auto before = module->getAttrOfType<ArrayAttr>(kAttribute))
    all.append(before.begin(), before.end());
  for (const std::string &element : strings.elements)
    elements.push_back(b.getStringAttr(element));
  all.push_back(b.getDictionaryAttr({b.getNamedAttr("name", b.getStringAttr(strings.name)),
                                     b.getNamedAttr("shape", b.getDenseI64ArrayAttr(strings.shape)),
                                     b.getNamedAttr("elements", b.getArrayAttr(elements))}));
  module->setAttr(kAttribute, b.getArrayAttr(all));
}

std::vector<KnownStrings> knownStringsOf(ModuleOp module) {
  std::vector<KnownStrings> out;
  auto all = module->getAttrOfType<ArrayAttr>(kAttribute);
  for (Attribute entry : all ? all.getValue() : ArrayRef<Attribute>()) {
    auto known = dyn_cast<DictionaryAttr>(entry);
    auto name = known ? known.getAs<StringAttr>("name") : StringAttr();
    auto shape = known ? known.getAs<DenseI64ArrayAttr>("shape") : DenseI64ArrayAttr();
    auto elements = known ? known.getAs<ArrayAttr>("elements") : ArrayAttr();
    if (!name || !shape || !elements)
      continue;
    KnownStrings one{name.str(), shape.asArrayRef().vec(), {}};
    for (auto element : elements.getAsRange<StringAttr>())
      one.elements.push_back(element.str());
    out.push_back(std::move(one));
  }
  return out;
}

} // namespace cleave::graph
