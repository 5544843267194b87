// Casts of operands, op by op in program order.
#include "passes/precision/Precision.h"

#include "dialects/graph/Build.h"
#include "dialects/graph/F32Region.h"
#include "dialects/graph/Rounding.h"
#include "dialects/graph/Step.h"
#include "passes/precision/WideProducts.h"
#include "runtime/base/Glob.h"

#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;
using namespace cleave::graph;

namespace cleave::precision {

namespace {

// The tensor whose elements `value` repeats or rearranges.
Value rootOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!op->hasTrait<UnaryCopy>())
      break;
    value = op->getOperand(0);
  }
  return value;
}

// Whether all elements are one number.
bool isNumber(Value value) {
  Value root = rootOf(value);
  return rankOf(root) == 0 || splatValue(root);
}

// Whether elements of the type represent the number; false for one that is computed.
bool isExactIn(Type type, Value number) {
  std::optional<double> known = splatValue(rootOf(number));
  if (!known)
    return false;
  bool isRounded = false;
  llvm::APFloat(*known).convert(cast<FloatType>(type).getFloatSemantics(),
                                llvm::RoundingMode::NearestTiesToEven, &isRounded);
  return !isRounded;
}

StringRef nameOf(Operation *op) {
  auto name = dyn_cast<NameLoc>(op->getLoc());
  return name ? name.getName().getValue() : StringRef();
}

class Caster {
public:
  Caster(func::FuncOp step, const Policy &policy, Summary &summary)
      : step_(step), policy_(policy), summary_(summary), used_(policy.rules.size()),
        wideProducts_(wideProductsOf(step)) {}

  LogicalResult run() {
    for (Operation &op : llvm::make_early_inc_range(step_.getBody().front().without_terminator()))
      visit(&op);
    Operation *end = step_.getBody().front().getTerminator();
    for (auto [operand, type] :
         llvm::zip_equal(end->getOpOperands(), step_.getFunctionType().getResults()))
      castTo(operand, elementTypeOf(type));
    for (auto [rule, isUsed] : llvm::zip_equal(policy_.rules, used_))
      if (!isUsed)
        return emitError(step_.getLoc())
               << "the rule of --dtype for " << (rule.op.empty() ? "name" : "op") << " `"
               << (rule.op.empty() ? rule.name : rule.op) << "` matches no op of the model";
    return success();
  }

private:
  // Whether the value is f32, or was before this pass.
  bool isOurs(Value value) const {
    return elementTypeOf(value).isF32() || lowered_.contains(value);
  }

  void visit(Operation *op) {
    SmallVector<OpOperand *> operands;
    for (OpOperand &operand : op->getOpOperands())
      if (isOurs(operand.get()))
        operands.push_back(&operand);
    if (operands.empty())
      return;
    const bool isInside = isInRegion(op);
    const std::optional<Type> ruled = typeByRule(op);
    Type type = ruled ? *ruled : typeFor(op, operands, isInside);
    const Type first = elementTypeOf(op->getOperand(0));
    if (isRoundedBehind(op, operands, type)) {
      computeWide(op, operands, type);
    } else if (op->hasTrait<NarrowResult>() && !ruled && !isInside && !first.isF32()) {
      computeWide(op, operands, first);
    } else {
      bool hasChanged = false;
      for (OpOperand *operand : operands) {
        hasChanged |= !elementTypeOf(operand->get()).isF32() || !type.isF32();
        if (isFactor(*operand) || !elementTypeOf(operand->get()).isF32())
          castTo(*operand, type);
      }
      if (hasChanged)
        retype(op, type);
    }
    for (Value result : op->getResults())
      if (isInside && isOurs(result))
        region_.insert(result);
    count(op, type, ruled.has_value(), isInside);
  }

  void count(Operation *op, Type type, bool isRuled, bool isInside) {
    summary_.regionOps += isInside && !isRuled && !isBorder(op);
    if (!op->hasTrait<MatrixProduct>())
      return;
    if (!type.isF32())
      ++summary_.lowProducts;
    else if (isRuled)
      ++summary_.ruledProducts;
    else if (!isInside)
      summary_.wideProducts.push_back(nameOf(op).str());
  }

  static bool isBorder(Operation *op) { return isa<EnterF32Op, LeaveF32Op>(op); }

  // Whether the op is in a region that computes in f32 (F32Region.h).
  bool isInRegion(Operation *op) const {
    return isa<EnterF32Op>(op) ||
           (!isa<LeaveF32Op>(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
             return region_.contains(operand);
           }));
  }

  // Whether the op computes on the operand in its own type: attention adds a bias to f32 scores.
  static bool isFactor(OpOperand &operand) {
    Operation *op = operand.getOwner();
    return !op->hasTrait<MatrixProduct>() || operand.getOperandNumber() < factorsOf(op).size();
  }

  // The type of the first rule of the user that matches.
  std::optional<Type> typeByRule(Operation *op) {
    if (isBorder(op))
      return std::nullopt;
    for (auto [i, rule] : llvm::enumerate(policy_.rules))
      if (rule.op.empty() ? matchesGlob(rule.name, nameOf(op).str())
                          : matchesGlob(rule.op, op->getName().stripDialect().str())) {
        used_[i] = true;
        return fromElementType(rule.type, op->getContext());
      }
    return std::nullopt;
  }

  Type typeFor(Operation *op, ArrayRef<OpOperand *> operands, bool isInside) const {
    Type wide = Float32Type::get(op->getContext());
    if (isInside || isBorder(op) || wideProducts_.contains(op))
      return wide;
    if (op->hasTrait<MatrixProduct>())
      return fromElementType(policy_.low, op->getContext());
    return op->hasTrait<WidePrecision>() ? wide : commonType(op, operands, wide);
  }

  // Whether the op computes in f32 and its result is rounded to `type`, since a number that meets
  // values of this type is none of it. A result that is no float is not rounded, and the number is.
  bool isRoundedBehind(Operation *op, ArrayRef<OpOperand *> operands, Type type) const {
    if (type.isF32() || !isa<PointwiseInterface>(op) || !isOurs(op->getResult(0)))
      return false;
    return llvm::any_of(operands, [&](OpOperand *operand) {
      return isNumber(operand->get()) && !isExactIn(type, operand->get());
    });
  }

  void computeWide(Operation *op, ArrayRef<OpOperand *> operands, Type type) {
    for (OpOperand *operand : operands)
      castTo(*operand, Float32Type::get(op->getContext()));
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    Value rounded = buildCast(b, op->getResult(0), type);
    op->getResult(0).replaceAllUsesExcept(rounded, rounded.getDefiningOp());
    lowered_.insert(rounded);
  }

  // The type of the operands that count; `wide` if they differ or if there are none.
  Type commonType(Operation *op, ArrayRef<OpOperand *> operands, Type wide) const {
    Type common;
    for (OpOperand *operand : operands) {
      Value value = operand->get();
      if (isNumber(value) || isBias(op, value))
        continue;
      Type type = elementTypeOf(value);
      if (common && common != type)
        return wide;
      common = type;
    }
    return common ? common : wide;
  }

  // Whether `op` adds the vector of parameters `value` to a product.
  bool isBias(Operation *op, Value value) const {
    auto pointwise = dyn_cast<PointwiseInterface>(op);
    auto argument = dyn_cast<BlockArgument>(rootOf(value));
    if (!pointwise || !pointwise.isLinear() || !argument || rankOf(argument) != 1 ||
        argRole(step_, argument.getArgNumber()) != Role::Parameter)
      return false;
    return llvm::any_of(op->getOperands(), [](Value operand) {
      Operation *maker = rootOf(operand).getDefiningOp();
      return maker && maker->hasTrait<MatrixProduct>();
    });
  }

  // All readers of a low value in f32 share one cast, so that their gradients are added in f32 and
  // rounded once. Each reader of an f32 value in a low type has a separate cast, for the same
  // reason.
  void castTo(OpOperand &operand, Type type) {
    Value value = operand.get();
    if (!isOurs(value))
      return;
    OpBuilder b(operand.getOwner());
    if (!type.isF32())
      return operand.set(buildCast(b, value, type));
    Value &widened = widened_[value];
    if (!widened)
      widened = buildCast(b, value, type);
    operand.set(widened);
  }

  // Gives the results of `op` the types that follow from operands of the element type `type`.
  void retype(Operation *op, Type type) {
    SmallVector<Type> inferred;
    if (auto infer = dyn_cast<InferTypeOpInterface>(op)) {
      LogicalResult result = infer.inferReturnTypes(
          op->getContext(), op->getLoc(), op->getOperands(), op->getRawDictionaryAttrs(),
          op->getPropertiesStorage(), op->getRegions(), inferred);
      assert(succeeded(result) && "the op was valid with operands of another element type");
      (void)result;
    }
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      if (!elementTypeOf(result).isF32())
        continue;
      Type element = inferred.empty() ? type : elementTypeOf(inferred[i]);
      result.setType(cast<RankedTensorType>(result.getType()).clone(element));
      if (!element.isF32())
        lowered_.insert(result);
    }
  }

  func::FuncOp step_;
  const Policy &policy_;
  Summary &summary_;
  std::vector<bool> used_; // per rule of the policy
  llvm::SetVector<Operation *> wideProducts_;
  llvm::DenseSet<Value> lowered_;        // f32 before this pass
  llvm::DenseMap<Value, Value> widened_; // per low value its cast to f32
  llvm::DenseSet<Value> region_;         // results of ops in regions that compute in f32
};

} // namespace

std::string Summary::text(const Policy &policy) const {
  std::string text = concat(lowProducts, lowProducts == 1 ? " product in " : " products in ",
                            policy.low == DType::F32 ? "16-bit floats" : name(policy.low));
  if (!wideProducts.empty())
    text += concat("; ", wideProducts.size(), " in f32, of positions or angles (");
  for (size_t i = 0; i < wideProducts.size() && i < 3; ++i)
    text += (i ? ", " : "") + (wideProducts[i].empty() ? "unnamed" : wideProducts[i]);
  if (!wideProducts.empty())
    text += wideProducts.size() > 3 ? ", ...)" : ")";
  if (ruledProducts > 0)
    text += concat("; ", ruledProducts, " in f32 by rules");
  if (regionOps > 0)
    text += concat("; ", regionOps, regionOps == 1 ? " op" : " ops",
                   " in regions that stay f32 (autocast disabled, Fourier transforms, grids)");
  return text;
}

LogicalResult applyPolicy(func::FuncOp step, const Policy &policy, Summary *summary) {
  Summary own;
  LogicalResult result =
      policy.isNone() ? success() : Caster(step, policy, summary ? *summary : own).run();
  dropF32Borders(step);
  return result;
}

} // namespace cleave::precision
