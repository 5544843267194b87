// Origins of values in program order, and angles in reverse program order.
#include "passes/precision/WideProducts.h"

#include "dialects/graph/Rounding.h"
#include "dialects/graph/Step.h"

using namespace mlir;
using namespace cleave::graph;

namespace cleave::precision {

namespace {

bool isInteger(Value value) { return isa<IntegerType>(elementTypeOf(value)); }
bool isBool(Value value) { return elementTypeOf(value).isInteger(1); }

// Whether the element type is too narrow for positions: pixels and sound are stored so.
bool isSample(Value value) { return elementTypeOf(value).getIntOrFloatBitWidth() <= 16; }

Origin originOfArgument(func::FuncOp step, unsigned i) {
  const std::optional<Role> role = argRole(step, i);
  Value argument = step.getArgument(i);
  if (role == Role::Parameter)
    return Origin::Parameter;
  const bool isConstant = role == Role::Constant;
  if (isInteger(argument))
    return isConstant || !isSample(argument) ? Origin::Position : Origin::Input;
  return isConstant ? Origin::Table : Origin::Input;
}

class Analysis {
public:
  explicit Analysis(func::FuncOp step) {
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      set(step.getArgument(i), originOfArgument(step, i));
    for (Operation &op : step.getBody().front())
      for (Value result : op.getResults())
        set(result, originOfResult(&op, result));
  }

  Origin of(Value value) const { return origins_.lookup(value); }
  llvm::DenseMap<Value, Origin> take() { return std::move(origins_); }

private:
  // Booleans and scalars are a few numbers whatever they are computed from.
  void set(Value value, Origin origin) {
    origins_[value] = isBool(value) || rankOf(value) == 0 ? Origin::Few : origin;
  }

  Origin largestOf(ValueRange values) const {
    Origin largest = Origin::Few;
    for (Value value : values)
      largest = std::max(largest, of(value));
    return largest;
  }

  Origin originOfResult(Operation *op, Value result) const {
    if (op->hasTrait<OpTrait::ConstantLike>())
      return splatValue(result)  ? Origin::Few
             : isInteger(result) ? Origin::Position
                                 : Origin::Table;
    if (op->getNumOperands() == 0)
      return Origin::Position; // iota and sizes
    if (op->hasTrait<MatrixProduct>())
      return originOfProduct(op);
    if (op->hasTrait<TableLookup>())
      return originOfLookup(op->getOperand(0));
    Origin origin = largestOf(op->getOperands());
    // Sums of masks are counts.
    if (origin == Origin::Few && !op->hasTrait<ElementCopy>() &&
        !isa<PointwiseInterface, DecompositionInterface>(op))
      origin = Origin::Position;
    return origin == Origin::Position && hasBoundedResult(op) ? Origin::Table : origin;
  }

  Origin originOfProduct(Operation *op) const {
    Origin origin = largestOf(factorsOf(op));
    if (isComputedFromIndices(op))
      return origin == Origin::Few ? Origin::Position : origin;
    return origin == Origin::Parameter ? origin : Origin::Activation;
  }

  // A row of parameters that an index selects depends on both.
  Origin originOfLookup(Value table) const {
    return of(table) == Origin::Parameter ? Origin::Activation : of(table);
  }

public:
  // Whether the op reads integers and constants alone.
  bool isComputedFromIndices(Operation *op) const {
    return llvm::all_of(factorsOf(op), [&](Value factor) {
      Origin origin = of(factor);
      return origin == Origin::Few || origin == Origin::Table || origin == Origin::Position;
    });
  }

private:
  llvm::DenseMap<Value, Origin> origins_;
};

// The values of which a sine or cosine is taken, also after pointwise ops and copies.
llvm::DenseSet<Value> anglesOf(func::FuncOp step) {
  llvm::DenseSet<Value> angles;
  for (Operation &op : llvm::reverse(step.getBody().front())) {
    bool isMovement = isa<PointwiseInterface>(op) || op.hasTrait<ElementCopy>();
    bool feedsAngle = isMovement && llvm::any_of(op.getResults(), [&](Value result) {
                        return angles.contains(result);
                      });
    if (isAngleFunction(&op) || feedsAngle)
      angles.insert_range(op.getOperands());
  }
  return angles;
}

} // namespace

llvm::DenseMap<Value, Origin> originsOf(func::FuncOp step) { return Analysis(step).take(); }

llvm::SetVector<Operation *> wideProductsOf(func::FuncOp step) {
  llvm::SetVector<Operation *> wide;
  Analysis analysis(step);
  llvm::DenseSet<Value> angles = anglesOf(step);
  for (Operation &op : step.getBody().front()) {
    if (!op.hasTrait<MatrixProduct>())
      continue;
    OperandRange factors = factorsOf(&op);
    auto isOf = [&](Origin origin) {
      return llvm::any_of(factors, [&](Value factor) { return analysis.of(factor) == origin; });
    };
    bool isAngle = angles.contains(op.getResult(0)) && !isOf(Origin::Activation);
    if (isOf(Origin::Position) || analysis.isComputedFromIndices(&op) || isAngle)
      wide.insert(&op);
  }
  return wide;
}

} // namespace cleave::precision
