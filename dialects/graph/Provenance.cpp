// See Provenance.h.
#include "dialects/graph/Provenance.h"

#include "dialects/graph/RandomOrigin.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace cleave::graph {

static constexpr StringLiteral kModel = "graph.model", kOptimizer = "graph.optimizer",
                               kNoPadding = "graph.no_padding", kOtherNames = "graph.other_names";

void setSourceModel(ModuleOp module, const SourceModel &model) {
  Builder b(module.getContext());
  SmallVector<NamedAttribute> entries = {
      b.getNamedAttr("path", b.getStringAttr(model.path)),
      b.getNamedAttr("bytes", b.getI64IntegerAttr(static_cast<int64_t>(model.bytes)))};
  if (!model.sha256.empty())
    entries.push_back(b.getNamedAttr("sha256", b.getStringAttr(model.sha256)));
  module->setAttr(kModel, b.getDictionaryAttr(entries));
}

std::optional<SourceModel> sourceModelOf(ModuleOp module) {
  auto entries = module->getAttrOfType<DictionaryAttr>(kModel);
  auto path = entries ? entries.getAs<StringAttr>("path") : StringAttr();
  auto bytes = entries ? entries.getAs<IntegerAttr>("bytes") : IntegerAttr();
  if (!path || !bytes)
    return std::nullopt;
  auto hash = entries.getAs<StringAttr>("sha256");
  return SourceModel{path.str(), bytes.getValue().getLimitedValue(), hash ? hash.str() : ""};
}

bool isInFile(Attribute origin) { return cast<DictionaryAttr>(origin).contains("path"); }

static bool isFileOrigin(DictionaryAttr entries) {
  auto isCount = [&](StringRef name) {
    auto number = entries.getAs<IntegerAttr>(name);
    return number && number.getType().isSignlessInteger(64) && number.getInt() >= 0;
  };
  auto element = entries.getAs<TypeAttr>("element");
  return entries.getAs<StringAttr>("path") && isCount("offset") && isCount("bytes") && element &&
         element.getValue().isIntOrFloat();
}

bool isOrigin(Attribute attribute) {
  auto entries = dyn_cast_if_present<DictionaryAttr>(attribute);
  if (!entries)
    return false;
  return isInFile(entries)
             ? isFileOrigin(entries)
             : entries.getAs<FloatAttr>("fill") || entries.getAs<DenseElementsAttr>("data") ||
                   toRandomOrigin(entries);
}

void setOptimizer(ModuleOp module, const std::string &optimizer) {
  module->setAttr(kOptimizer, StringAttr::get(module.getContext(), optimizer));
}

std::string optimizerOf(ModuleOp module) {
  auto text = module->getAttrOfType<StringAttr>(kOptimizer);
  return text ? text.str() : "";
}

StringRef nameOf(Location location) {
  StringRef name;
  location->walk([&](Location at) {
    if (auto named = dyn_cast<NameLoc>(at))
      name = named.getName();
    return name.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return name;
}

void setNoPadding(ModuleOp module, const std::string &reason) {
  if (!reason.empty())
    module->setAttr(kNoPadding, StringAttr::get(module.getContext(), reason));
}

std::string noPaddingOf(ModuleOp module) {
  auto text = module->getAttrOfType<StringAttr>(kNoPadding);
  return text ? text.str() : "";
}

void addOtherName(ModuleOp module, StringRef other, StringRef parameter) {
  NamedAttrList names(module->getAttrOfType<DictionaryAttr>(kOtherNames));
  names.set(other, StringAttr::get(module.getContext(), parameter));
  module->setAttr(kOtherNames, names.getDictionary(module.getContext()));
}

std::vector<std::string> otherNamesOf(ModuleOp module, StringRef parameter) {
  std::vector<std::string> found;
  if (auto names = module->getAttrOfType<DictionaryAttr>(kOtherNames))
    for (NamedAttribute entry : names)
      if (auto of = dyn_cast<StringAttr>(entry.getValue()); of && of.getValue() == parameter)
        found.push_back(entry.getName().str());
  return found;
}

} // namespace cleave::graph
