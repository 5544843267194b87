// See KnownTexts.h.
#include "dialects/graph/KnownTexts.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace cleave::graph {

static constexpr StringLiteral kAttribute = "graph.known_texts";

void addKnownTexts(ModuleOp module, const KnownTexts &texts) {
  Builder b(module.getContext());
  SmallVector<Attribute> all, elements;
  if (auto before = module->getAttrOfType<ArrayAttr>(kAttribute))
    all.append(before.begin(), before.end());
  for (const std::string &text : texts.elements)
    elements.push_back(b.getStringAttr(text));
  all.push_back(b.getDictionaryAttr({b.getNamedAttr("name", b.getStringAttr(texts.name)),
                                     b.getNamedAttr("shape", b.getDenseI64ArrayAttr(texts.shape)),
                                     b.getNamedAttr("texts", b.getArrayAttr(elements))}));
  module->setAttr(kAttribute, b.getArrayAttr(all));
}

std::vector<KnownTexts> knownTextsOf(ModuleOp module) {
  std::vector<KnownTexts> out;
  auto all = module->getAttrOfType<ArrayAttr>(kAttribute);
  for (Attribute entry : all ? all.getValue() : ArrayRef<Attribute>()) {
    auto known = dyn_cast<DictionaryAttr>(entry);
    auto name = known ? known.getAs<StringAttr>("name") : StringAttr();
    auto shape = known ? known.getAs<DenseI64ArrayAttr>("shape") : DenseI64ArrayAttr();
    auto texts = known ? known.getAs<ArrayAttr>("texts") : ArrayAttr();
    if (!name || !shape || !texts)
      continue;
    KnownTexts one{name.str(), shape.asArrayRef().vec(), {}};
    for (auto text : texts.getAsRange<StringAttr>())
      one.elements.push_back(text.str());
    out.push_back(std::move(one));
  }
  return out;
}

} // namespace cleave::graph
