// See Step.h.
#include "dialects/graph/Step.h"

#include "dialects/graph/FedArguments.h"
#include "dialects/graph/Messages.h"
#include "dialects/graph/MicroBatches.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace cleave::graph {

func::FuncOp stepOf(ModuleOp module) { return module.lookupSymbol<func::FuncOp>(kStepName); }

static StringRef text(Attribute attr) {
  auto string = dyn_cast_if_present<StringAttr>(attr);
  return string ? string.getValue() : StringRef();
}

static constexpr llvm::StringLiteral kRole = "graph.role";
static constexpr llvm::StringLiteral kF32Products = "graph.f32_products";

StringRef f32Products(Operation *op) {
  while (op->getParentOp())
    op = op->getParentOp();
  auto type = op->getAttrOfType<StringAttr>(kF32Products);
  return type ? type.getValue() : "f32";
}

void setF32Products(ModuleOp module, StringRef type) {
  module->setAttr(kF32Products, StringAttr::get(module.getContext(), type));
}

SmallVector<Operation *> opsOf(func::FuncOp step) {
  SmallVector<Operation *> ops;
  for (Operation &op : step.getBody().front().without_terminator())
    ops.push_back(&op);
  return ops;
}

StringRef argName(func::FuncOp step, unsigned i) { return text(step.getArgAttr(i, "graph.name")); }
std::optional<Role> argRole(func::FuncOp step, unsigned i) {
  std::optional<Role> role = roleNamed(text(step.getArgAttr(i, kRole)));
  return role && factsOf(*role).isOfArgument ? role : std::nullopt;
}
bool isTrainable(func::FuncOp step, unsigned i) {
  return bool(step.getArgAttr(i, "graph.trainable"));
}

std::optional<unsigned> argNamed(func::FuncOp step, StringRef name) {
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (argName(step, i) == name)
      return i;
  return std::nullopt;
}

std::optional<unsigned> resultNamed(func::FuncOp step, StringRef name) {
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (resultName(step, i) == name)
      return i;
  return std::nullopt;
}

StringRef resultName(func::FuncOp step, unsigned i) {
  return text(step.getResultAttr(i, "graph.name"));
}
std::optional<Role> resultRole(func::FuncOp step, unsigned i) {
  std::optional<Role> role = roleNamed(text(step.getResultAttr(i, kRole)));
  return role && factsOf(*role).isOfResult ? role : std::nullopt;
}

// `what 'name' has the graph.role 'role', expected a, b or c`, the roles with this column.
static std::string roleFault(StringRef what, StringRef name, Attribute role,
                             bool RoleFacts::*isPossible) {
  SmallVector<StringRef> possible;
  for (const RoleFacts &facts : kRoles)
    if (facts.*isPossible)
      possible.push_back(facts.name);
  StringRef last = possible.pop_back_val();
  return (what + " '" + name + "' has the graph.role '" + text(role) + "', expected " +
          llvm::join(possible, ", ") + " or " + last)
      .str();
}

std::string argRoleFault(func::FuncOp step, unsigned i) {
  return argRole(step, i) ? ""
                          : roleFault("argument", argName(step, i), step.getArgAttr(i, kRole),
                                      &RoleFacts::isOfArgument);
}

std::string resultRoleFault(func::FuncOp step, unsigned i) {
  return resultRole(step, i) ? ""
                             : roleFault("result", resultName(step, i),
                                         step.getResultAttr(i, kRole), &RoleFacts::isOfResult);
}

LogicalResult checkRoles(func::FuncOp step) {
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (std::string fault = argRoleFault(step, i); !fault.empty())
      return emitError(step.getLoc()) << fault;
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (std::string fault = resultRoleFault(step, i); !fault.empty())
      return emitError(step.getLoc()) << fault;
  return success();
}

StringAttr toAttribute(Role role, MLIRContext *context) {
  return StringAttr::get(context, StringRef(name(role)));
}

std::optional<unsigned> aliasOf(func::FuncOp step, unsigned i) {
  auto alias = step.getResultAttrOfType<IntegerAttr>(i, "graph.alias");
  return alias ? std::optional<unsigned>(alias.getInt()) : std::nullopt;
}

// Whether argument i is a message between stages of each micro-batch.
static bool isPassedPerMicroBatch(func::FuncOp step, unsigned i) {
  const std::optional<Passed> passed = receivedWhen(step, i);
  return passed && *passed != Passed::Update;
}

bool isPerMicroBatch(func::FuncOp step, unsigned i) {
  return (isFed(step, i) && allOf(step, i).empty()) || isPassedPerMicroBatch(step, i);
}

static bool replacesPerMicroBatch(func::FuncOp step, unsigned i) {
  std::optional<unsigned> alias = aliasOf(step, i);
  return alias && step.getArgAttr(*alias, kPerMicroBatch);
}

bool isReplacedPerMicroBatch(func::FuncOp step, unsigned i,
                             const llvm::DenseSet<Operation *> &repeated) {
  Operation *producer = step.getBody().front().getTerminator()->getOperand(i).getDefiningOp();
  const bool isRepeated = producer && repeated.contains(producer) && !isa<AccumulateOp>(producer);
  return aliasOf(step, i) && (isRepeated || replacesPerMicroBatch(step, i));
}

llvm::DenseSet<Operation *> perMicroBatch(func::FuncOp step) {
  Block &body = step.getBody().front();
  llvm::DenseSet<Value> ofInputs, ofSums; // values that depend on inputs, and on accumulated sums
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (isFed(step, i) || isPassedPerMicroBatch(step, i))
      ofInputs.insert(step.getArgument(i));
  llvm::DenseSet<Operation *> repeated;
  for (Operation &op : body.without_terminator()) {
    bool isSum = isa<AccumulateOp>(op);
    auto dependsOn = [&](const llvm::DenseSet<Value> &values) {
      return llvm::any_of(op.getOperands(), [&](Value v) { return values.contains(v); });
    };
    if (isSum || dependsOn(ofSums))
      ofSums.insert(op.result_begin(), op.result_end());
    else if (dependsOn(ofInputs))
      ofInputs.insert(op.result_begin(), op.result_end());
    if (isSum || (op.getNumResults() > 0 && ofInputs.contains(op.getResult(0))))
      repeated.insert(&op);
  }
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (Operation *producer = body.getTerminator()->getOperand(i).getDefiningOp();
        producer && replacesPerMicroBatch(step, i))
      repeated.insert(producer);
  for (Operation &op : llvm::reverse(body.without_terminator()))
    if (repeated.contains(&op))
      for (Value operand : op.getOperands())
        if (Operation *producer = operand.getDefiningOp())
          repeated.insert(producer);
  return repeated;
}

Attribute toAttribute(const TensorOrigin &origin, MLIRContext *context) {
  Builder b(context);
  SmallVector<NamedAttribute> entries;
  switch (origin.kind) {
  case TensorOrigin::Kind::Fill:
    entries.push_back(b.getNamedAttr("fill", b.getF64FloatAttr(origin.fill)));
    break;
  case TensorOrigin::Kind::Inline:
    entries.push_back(b.getNamedAttr("data", toAttribute(origin.data, context)));
    break;
  case TensorOrigin::Kind::File:
    entries.push_back(b.getNamedAttr("path", b.getStringAttr(origin.path)));
    entries.push_back(b.getNamedAttr("offset", b.getI64IntegerAttr(origin.offset)));
    entries.push_back(b.getNamedAttr("bytes", b.getI64IntegerAttr(origin.bytes)));
    entries.push_back(
        b.getNamedAttr("element", TypeAttr::get(fromElementType(origin.element, context))));
    if (!origin.permutation.empty())
      entries.push_back(b.getNamedAttr("permutation", b.getDenseI64ArrayAttr(origin.permutation)));
    break;
  }
  return b.getDictionaryAttr(entries);
}

std::optional<TensorOrigin> originOf(func::FuncOp step, unsigned i) {
  auto entries = step.getArgAttrOfType<DictionaryAttr>(i, "graph.source");
  if (!entries)
    return std::nullopt;
  return toOrigin(entries);
}

TensorOrigin toOrigin(Attribute attribute) {
  auto entries = cast<DictionaryAttr>(attribute);
  TensorOrigin origin;
  if (auto fill = entries.getAs<FloatAttr>("fill")) {
    origin.fill = fill.getValueAsDouble();
    return origin;
  }
  if (auto data = entries.getAs<DenseElementsAttr>("data")) {
    origin.kind = TensorOrigin::Kind::Inline;
    origin.data = toTensor(data);
    return origin;
  }
  origin.kind = TensorOrigin::Kind::File;
  origin.path = text(entries.get("path")).str();
  origin.offset = entries.getAs<IntegerAttr>("offset").getInt();
  origin.bytes = entries.getAs<IntegerAttr>("bytes").getInt();
  origin.element = toElementType(entries.getAs<TypeAttr>("element").getValue());
  if (auto permutation = entries.getAs<DenseI64ArrayAttr>("permutation"))
    origin.permutation = permutation.asArrayRef().vec();
  return origin;
}

BlockArgument addArgument(func::FuncOp step, Type type, StringRef name, Role role,
                          const TensorOrigin *origin) {
  Builder b(step.getContext());
  SmallVector<NamedAttribute> attrs = {b.getNamedAttr("graph.name", b.getStringAttr(name)),
                                       b.getNamedAttr(kRole, toAttribute(role, step.getContext()))};
  if (origin)
    attrs.push_back(b.getNamedAttr("graph.source", toAttribute(*origin, step.getContext())));
  unsigned index = step.getNumArguments();
  (void)step.insertArgument(index, type, b.getDictionaryAttr(attrs), step.getLoc());
  return step.getArgument(index);
}

void addResult(func::FuncOp step, Value value, StringRef name, Role role,
               std::optional<unsigned> alias) {
  Builder b(step.getContext());
  SmallVector<NamedAttribute> attrs = {b.getNamedAttr("graph.name", b.getStringAttr(name)),
                                       b.getNamedAttr(kRole, toAttribute(role, step.getContext()))};
  if (alias)
    attrs.push_back(b.getNamedAttr("graph.alias", b.getI64IntegerAttr(*alias)));
  (void)step.insertResult(step.getNumResults(), value.getType(), b.getDictionaryAttr(attrs));
  Operation *terminator = step.getBody().front().getTerminator();
  terminator->insertOperands(terminator->getNumOperands(), value);
}

} // namespace cleave::graph
