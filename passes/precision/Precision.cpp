// Casts of operands, op by op in program order.
#include "passes/precision/Precision.h"

#include "dialects/graph/Build.h"
#include "dialects/graph/Step.h"
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
  Caster(func::FuncOp step, const Policy &policy)
      : step_(step), policy_(policy), used_(policy.rules.size()) {}

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
    Type type = typeFor(op, operands);
    if (isRoundedBehind(op, operands, type))
      return computeWide(op, operands, type);
    bool hasChanged = false;
    for (OpOperand *operand : operands) {
      hasChanged |= !elementTypeOf(operand->get()).isF32() || !type.isF32();
      castTo(*operand, type);
    }
    if (hasChanged)
      retype(op, type);
  }

  Type typeFor(Operation *op, ArrayRef<OpOperand *> operands) {
    for (auto [i, rule] : llvm::enumerate(policy_.rules))
      if (rule.op.empty() ? matchesGlob(rule.name, nameOf(op).str())
                          : matchesGlob(rule.op, op->getName().stripDialect().str())) {
        used_[i] = true;
        return fromElementType(rule.type, op->getContext());
      }
    if (op->hasTrait<MatrixProduct>())
      return fromElementType(policy_.low, op->getContext());
    Type wide = Float32Type::get(op->getContext());
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
        argRole(step_, argument.getArgNumber()) != "parameter")
      return false;
    return llvm::any_of(op->getOperands(), [](Value operand) {
      Operation *maker = rootOf(operand).getDefiningOp();
      return maker && maker->hasTrait<MatrixProduct>();
    });
  }

  void castTo(OpOperand &operand, Type type) {
    if (!isOurs(operand.get()))
      return;
    OpBuilder b(operand.getOwner());
    operand.set(buildCast(b, operand.get(), type));
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
  std::vector<bool> used_;        // per rule of the policy
  llvm::DenseSet<Value> lowered_; // f32 before this pass
};

} // namespace

LogicalResult applyPolicy(func::FuncOp step, const Policy &policy) {
  return policy.isNone() ? success() : Caster(step, policy).run();
}

// -- gradients ------------------------------------------------------------------------------------

// Whether nothing but the gradient reads `value`, a product or copies of products.
static bool isWidenable(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse() || op->getNumResults() != 1)
    return false;
  return op->hasTrait<MatrixProduct>() ||
         (op->hasTrait<ElementCopy>() && llvm::all_of(op->getOperands(), isWidenable));
}

static void widen(Value value, Type wide) {
  Operation *op = value.getDefiningOp();
  if (!op->hasTrait<MatrixProduct>())
    for (Value operand : op->getOperands())
      widen(operand, wide);
  value.setType(cast<RankedTensorType>(value.getType()).clone(wide));
}

Value widenGradient(Value gradient) {
  Type wide = elementTypeOf(gradient);
  SmallVector<Value> stack = {gradient};
  llvm::DenseSet<Value> seen = {gradient};
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    Operation *op = value.getDefiningOp();
    auto pointwise = dyn_cast_or_null<PointwiseInterface>(op);
    if (auto narrow = dyn_cast_or_null<CastOp>(op)) {
      Value product = narrow.getOperand();
      if (!isProductType(wide, elementTypeOf(product)) || !isWidenable(product))
        continue;
      widen(product, wide);
      value.replaceAllUsesWith(product);
      if (value == gradient)
        gradient = product;
      op->erase();
    } else if (op && (op->hasTrait<ElementCopy>() || (pointwise && pointwise.isLinear()))) {
      for (Value operand : op->getOperands())
        if (seen.insert(operand).second)
          stack.push_back(operand);
    }
  }
  return gradient;
}

} // namespace cleave::precision
