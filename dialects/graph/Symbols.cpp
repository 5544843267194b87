// See Symbols.h.
#include "dialects/graph/Symbols.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Verifier.h"

#include <set>

using namespace mlir;

namespace cleave::graph {

bool isNotOne(const Polynomial &size) {
  return size.atLeast(kLeastSymbol).value_or(2) > 1 || size.atMost(kLeastSymbol).value_or(2) < 1;
}

// The polynomials in the attributes of an op.
static SmallVector<StringRef> textsOf(Operation *op) {
  SmallVector<StringRef> texts;
  auto add = [&](std::optional<StringRef> text) {
    if (text)
      texts.push_back(*text);
  };
  if (auto slice = dyn_cast<SliceOp>(op))
    add(slice.getSymbolicStart());
  if (auto pad = dyn_cast<PadOp>(op))
    add(pad.getSymbolicLow());
  if (auto sizes = dyn_cast<SizesOp>(op)) {
    add(sizes.getDivisor());
    for (StringRef text : sizes.getValues().getAsValueRange<StringAttr>())
      add(text);
  }
  return texts;
}

std::vector<std::string> symbolsOf(ModuleOp module) {
  std::set<std::string> names;
  auto add = [&](const Polynomial &size) {
    for (const std::string &name : size.symbols())
      names.insert(name);
  };
  AttrTypeWalker walker;
  walker.addWalk([&](DimsAttr dims) {
    for (Attribute text : dims.getDims())
      if (StringRef value = cast<StringAttr>(text).getValue(); !value.empty())
        add(*Polynomial::parse(value.str()));
  });
  module->walk([&](Operation *op) {
    walker.walk(op->getAttrDictionary());
    for (Type type : op->getResultTypes())
      walker.walk(type);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          walker.walk(type);
    for (StringRef text : textsOf(op))
      add(*Polynomial::parse(text.str()));
  });
  return {names.begin(), names.end()};
}

// Substitutes symbols in a position that is a number plus a polynomial as text.
template <typename Number, typename Text>
static void bindPlace(const Polynomial &place, Number setNumber, Text setText) {
  if (std::optional<int64_t> number = place.constant()) {
    setNumber(*number);
    setText(std::nullopt);
    return;
  }
  setNumber(0);
  setText(place.str());
}

static void bindSizes(SizesOp sizes, const Polynomial::Binding &binding) {
  OpBuilder b(sizes);
  auto bound = [&](StringRef text) {
    return Polynomial::parse(text.str())->substitute(binding).str();
  };
  SmallVector<Attribute> values;
  for (StringRef text : sizes.getValues().getAsValueRange<StringAttr>())
    values.push_back(b.getStringAttr(bound(text)));
  sizes.setValuesAttr(b.getArrayAttr(values));
  sizes.setDivisorAttr(b.getStringAttr(bound(sizes.getDivisor())));
  SmallVector<OpFoldResult> folded;
  if (failed(sizes->fold(folded)) || folded.empty())
    return;
  auto elements = cast<ElementsAttr>(cast<Attribute>(folded[0]));
  sizes.replaceAllUsesWith(ConstantOp::create(b, sizes.getLoc(), elements).getResult());
  sizes.erase();
}

static void bindAttributes(Operation *op, const Polynomial::Binding &binding) {
  auto setText = [&](StringRef name) {
    return [op, name](std::optional<std::string> text) {
      if (text)
        op->setAttr(name, StringAttr::get(op->getContext(), *text));
      else
        op->removeAttr(name);
    };
  };
  if (auto slice = dyn_cast<SliceOp>(op); slice && slice.getSymbolicStart())
    bindPlace(
        slice.startSize().substitute(binding), [&](int64_t number) { slice.setStart(number); },
        setText(slice.getSymbolicStartAttrName()));
  if (auto pad = dyn_cast<PadOp>(op); pad && pad.getSymbolicLow())
    bindPlace(
        pad.lowSize().substitute(binding), [&](int64_t number) { pad.setLow(number); },
        setText(pad.getSymbolicLowAttrName()));
  if (auto sizes = dyn_cast<SizesOp>(op))
    bindSizes(sizes, binding);
}

static constexpr StringLiteral kAssumptions = "graph.assumptions";

void setAssumptions(ModuleOp module, const std::vector<Polynomial> &notNegative) {
  Builder b(module.getContext());
  SmallVector<Attribute> texts;
  for (const Polynomial &size : notNegative)
    if (!size.isConstant())
      texts.push_back(b.getStringAttr(size.str()));
  if (texts.empty())
    module->removeAttr(kAssumptions);
  else
    module->setAttr(kAssumptions, b.getArrayAttr(texts));
}

std::vector<Polynomial> assumptionsOf(ModuleOp module) {
  std::vector<Polynomial> out;
  if (auto texts = module->getAttrOfType<ArrayAttr>(kAssumptions))
    for (StringRef text : texts.getAsValueRange<StringAttr>())
      if (std::optional<Polynomial> size = Polynomial::parse(text.str()))
        out.push_back(*size);
  return out;
}

std::string asInequality(const Polynomial &notNegative) {
  Polynomial negated = Polynomial(0) - notNegative;
  return negated.positivePart().str() + " <= " + notNegative.positivePart().str();
}

static Status bindAssumptions(ModuleOp module, const Polynomial::Binding &binding) {
  std::vector<Polynomial> left;
  for (const Polynomial &size : assumptionsOf(module)) {
    left.push_back(size.substitute(binding));
    if (left.back().constant().value_or(0) < 0)
      return Status::userError("the model was imported for ", asInequality(size),
                               ", which does not hold for the given sizes; import it with them");
  }
  setAssumptions(module, left);
  return Status::ok();
}

Status bindSymbols(ModuleOp module, const Polynomial::Binding &binding) {
  for (const auto &[name, value] : binding)
    if (value < 1)
      return Status::userError("symbol '", name, "' cannot be ", value, ", expected at least 1");
  CLEAVE_TRY(bindAssumptions(module, binding));
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](RankedTensorType type) -> std::optional<Type> {
    if (!isa_and_present<DimsAttr>(type.getEncoding()))
      return std::nullopt;
    Shape shape = shapeOf(type);
    for (Polynomial &dim : shape)
      dim = dim.substitute(binding);
    return tensorOf(shape, type.getElementType());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  module->walk([&](Operation *op) { bindAttributes(op, binding); });
  std::string message;
  ScopedDiagnosticHandler handler(module->getContext(), [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
    return success();
  });
  if (failed(verify(module)))
    return Status::userError("the model does not fit the given sizes: ", message);
  return Status::ok();
}

} // namespace cleave::graph
