// See Evaluate.h.
#include "compiler/frontend/emit/Evaluate.h"

#include "compiler/frontend/emit/Failure.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/Symbols.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <algorithm>
#include <map>
#include <set>

namespace cleave::emit {
namespace {

using namespace graph;

// Larger tensors are data, not shapes.
constexpr int64_t kMaxElements = 1 << 16;
// Limits of an import: scalar operations (about a second) and elements kept (128 MiB).
constexpr int64_t kMaxWork = int64_t(1) << 28, kMaxKept = int64_t(1) << 24;

bool isSmall(mlir::Value value) {
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
  int64_t count = 1; // dims of size 0 count as 1, since offsets are products of the others
  for (int64_t size : type ? type.getShape() : llvm::ArrayRef<int64_t>())
    if (size < 0 || size > kMaxElements || (count *= std::max<int64_t>(size, 1)) > kMaxElements)
      return false;
  return bool(type);
}

Tensor constantOf(ConstantOp op) {
  Tensor out = toTensor(op.getValue());
  constexpr double limit = 9007199254740992.0; // 2^53
  if (out.type == ElementType::I64)
    for (double &value : out.values)
      value = std::clamp(value, -limit, limit);
  return out;
}

// -- in symbols -----------------------------------------------------------------------------------
using MaybeSizes = std::optional<SizeTensor>;

MaybeSizes toSizes(const Tensor &tensor) {
  SizeTensor out{tensor.type, tensor.shape, {}};
  for (double value : tensor.values) {
    std::optional<Quotient> element = quotientOf(value);
    if (!element)
      return std::nullopt;
    out.elements.push_back(*element);
  }
  return out;
}

std::optional<Tensor> toNumbers(const SizeTensor &sizes) {
  Tensor out(sizes.type, sizes.shape);
  for (size_t i = 0; i < sizes.elements.size(); ++i) {
    std::optional<double> number = sizes.elements[i].number();
    if (!number)
      return std::nullopt;
    out.set(static_cast<int64_t>(i), *number);
  }
  return out;
}

SizeTensor emptyLike(mlir::Value result) {
  return {toElementType(elementTypeOf(result)), staticShapeOf(result), {}};
}

// The values of graph.sizes; none if the divisor is symbolic.
MaybeSizes valuesOf(SizesOp op) {
  std::optional<int64_t> divisor = Polynomial::parse(op.getDivisor().str())->constant();
  if (!divisor)
    return std::nullopt;
  SizeTensor out = emptyLike(op.getResult());
  for (llvm::StringRef text : op.getValues().getAsValueRange<mlir::StringAttr>())
    out.elements.push_back({*Polynomial::parse(text.str()), std::max<int64_t>(*divisor, 1)});
  return out;
}

// Ops that only move elements: runs the op on the positions of the elements, then looks these up.
// Operands from `movedOperands` on are indices.
MaybeSizes moved(mlir::Operation *op, llvm::ArrayRef<SizeTensor> operands, size_t movedOperands) {
  std::vector<Quotient> all(1); // 0 is the result of indices out of range
  llvm::SmallVector<Tensor> numbered;
  for (const auto &[i, operand] : llvm::enumerate(operands)) {
    if (i >= movedOperands) {
      std::optional<Tensor> numbers = toNumbers(operand);
      if (!numbers)
        return std::nullopt;
      numbered.push_back(*numbers);
      continue;
    }
    Tensor numbers(ElementType::I64, operand.shape);
    for (int64_t k = 0; k < numbers.size(); ++k)
      numbers.values[k] = static_cast<double>(all.size() + k);
    llvm::append_range(all, operand.elements);
    numbered.push_back(std::move(numbers));
  }
  SizeTensor out = emptyLike(op->getResult(0));
  Tensor result = mlir::cast<ReferenceInterface>(op).evaluate(numbered)[0];
  for (double number : result.values)
    out.elements.push_back(all[static_cast<size_t>(number)]);
  return out;
}

MaybeSizes pointwise(mlir::Operation *op, llvm::ArrayRef<SizeTensor> operands, Assume assume) {
  SizeTensor out = emptyLike(op->getResult(0));
  for (size_t i = 0; i < operands[0].elements.size(); ++i) {
    llvm::SmallVector<Quotient> elements;
    for (const SizeTensor &operand : operands)
      elements.push_back(operand.elements[i]);
    std::optional<Quotient> element = evaluateElement(op, elements, assume);
    if (!element)
      return std::nullopt;
    out.elements.push_back(*element);
  }
  return out;
}

MaybeSizes reduced(ReduceOp op, const SizeTensor &operand, Assume assume) {
  SizeTensor out = emptyLike(op.getResult());
  Tensor like(ElementType::I64, out.shape);
  std::vector<int64_t> strides(operand.shape.size(), 0), kept = like.strides();
  for (size_t dim = 0, next = 0; dim < operand.shape.size(); ++dim)
    if (!llvm::is_contained(op.getDims(), static_cast<int64_t>(dim)))
      strides[dim] = kept[next++];
  std::vector<std::optional<Quotient>> sums(like.size());
  bool known = true;
  size_t at = 0;
  forEachIndex(operand.shape, [&](const std::vector<int64_t> &index) {
    std::optional<Quotient> &sum = sums[linearIndex(index, strides)];
    const Quotient &next = operand.elements[at++];
    sum = sum ? combine(op.getKind(), *sum, next, assume) : next;
    known &= sum.has_value();
  });
  for (const std::optional<Quotient> &sum : sums) {
    if (!known || !sum) // undecided, or an empty reduction
      return std::nullopt;
    out.elements.push_back(*sum);
  }
  return out;
}

// Whether an op has a position that depends on symbols.
bool hasSymbolicPlace(mlir::Operation *op) {
  auto slice = mlir::dyn_cast<SliceOp>(op);
  auto pad = mlir::dyn_cast<PadOp>(op);
  return (slice && slice.getSymbolicStart()) || (pad && pad.getSymbolicLow());
}

// Window steps of an op. Each takes far longer than a FLOP, even without channels.
int64_t windowSteps(mlir::Operation *op) {
  llvm::ArrayRef<int64_t> kernel;
  if (auto pool = mlir::dyn_cast<PoolOp>(op))
    kernel = pool.getKernel();
  else if (mlir::isa<ConvOp>(op))
    kernel =
        mlir::cast<mlir::RankedTensorType>(op->getOperand(1).getType()).getShape().drop_front(2);
  else
    return 0;
  Polynomial steps = elementCount(op->getResult(0).getType());
  for (int64_t size : kernel)
    steps *= Polynomial(size);
  return std::min(steps.constant().value_or(kMaxWork), kMaxWork + 1);
}

} // namespace

const Evaluator::Known *Evaluator::find(mlir::Value value) {
  const KnownResults &known = known_[value.getDefiningOp()];
  return known ? &(*known)[mlir::cast<mlir::OpResult>(value).getResultNumber()] : nullptr;
}

void Evaluator::countConstant(int64_t elements) {
  constexpr int64_t most = int64_t(1) << 26;
  if ((made_ += elements) > most)
    fail("makes constants of more than ", most, " elements in all");
}

void Evaluator::checkOps() const {
  constexpr int64_t most = int64_t(1) << 20;
  if (ops_.count > most)
    fail("makes more than ", most, " ops when all rounds of all loops are written out");
}

void Evaluator::assume(const Polynomial &notNegative) {
  constexpr size_t most = 4096; // different ones; each is compared with all before it
  bool isSure = notNegative.atLeast(kLeastSymbol).value_or(-1) >= 0;
  if (isSure || llvm::is_contained(assumptions_, notNegative))
    return;
  if (assumptions_.size() == most)
    fail("takes more than ", most, " sizes that depend on symbols for granted");
  assumptions_.push_back(notNegative);
}

bool Evaluator::isAffordable(mlir::Operation *op) {
  // Copies of operands count, too; polynomials take longer.
  for (mlir::Value operand : op->getOperands())
    if (const Known *known = find(operand))
      work_ += mlir::cast<mlir::RankedTensorType>(operand.getType()).getNumElements() *
               (std::holds_alternative<SizeTensor>(*known) ? 64 : 1);
  for (mlir::Value result : op->getResults())
    kept_ += mlir::cast<mlir::RankedTensorType>(result.getType()).getNumElements();
  if (auto cost = mlir::dyn_cast<CostInterface>(op)) // saturates
    work_ += std::min(cost.getFlops().constant().value_or(kMaxWork), kMaxWork + 1);
  work_ += 8 * windowSteps(op);
  return work_ <= kMaxWork && kept_ <= kMaxKept;
}

MaybeSizes Evaluator::evaluateSizes(mlir::Operation *op, llvm::ArrayRef<SizeTensor> operands) {
  if (auto sizes = mlir::dyn_cast<SizesOp>(op))
    return valuesOf(sizes);
  if (op->hasTrait<ElementCopy>())
    return moved(op, operands, operands.size());
  if (op->hasTrait<TableLookup>())
    return moved(op, operands, 1);
  auto assumed = [this](const Polynomial &notNegative) { assume(notNegative); };
  if (auto reduce = mlir::dyn_cast<ReduceOp>(op))
    return reduced(reduce, operands[0], assumed);
  if (mlir::isa<PointwiseInterface>(op))
    return pointwise(op, operands, assumed);
  return std::nullopt;
}

bool Evaluator::compute(mlir::Operation *op) {
  if (!mlir::isMemoryEffectFree(op) || !isAffordable(op)) // a dropout without a seed has an effect
    return false;
  if (auto constant = mlir::dyn_cast<ConstantOp>(op)) {
    known_[op] = llvm::SmallVector<Known>{constantOf(constant)};
    return true;
  }
  bool symbolic = mlir::isa<SizesOp>(op);
  llvm::SmallVector<Known> operands;
  for (mlir::Value operand : op->getOperands()) {
    const Known *known = find(operand);
    if (!known)
      return false;
    symbolic |= std::holds_alternative<SizeTensor>(*known);
    operands.push_back(*known);
  }
  if (!symbolic) {
    llvm::SmallVector<Tensor> numbers;
    for (Known &operand : operands)
      numbers.push_back(std::move(std::get<Tensor>(operand)));
    llvm::SmallVector<Known> results;
    for (Tensor &result : mlir::cast<ReferenceInterface>(op).evaluate(numbers))
      results.emplace_back(std::move(result));
    known_[op] = std::move(results);
    return true;
  }
  // A polynomial takes some hundred bytes.
  for (mlir::Value result : op->getResults())
    kept_ += 31 * mlir::cast<mlir::RankedTensorType>(result.getType()).getNumElements();
  if (kept_ > kMaxKept)
    return false;
  llvm::SmallVector<SizeTensor> sizes;
  for (const Known &operand : operands) {
    const auto *numbers = std::get_if<Tensor>(&operand);
    MaybeSizes each = numbers ? toSizes(*numbers) : std::get<SizeTensor>(operand);
    if (!each)
      return false;
    sizes.push_back(std::move(*each));
  }
  MaybeSizes result = evaluateSizes(op, sizes);
  if (!result)
    return false;
  std::optional<Tensor> numbers = toNumbers(*result);
  known_[op] = llvm::SmallVector<Known>{numbers ? Known(std::move(*numbers)) : Known(*result)};
  return true;
}

std::optional<SizeTensor> Evaluator::sizes(mlir::Value value) {
  mlir::Operation *wanted = value.getDefiningOp();
  if (!wanted)
    return std::nullopt;
  // Operands first, without recursion: an op stays on the stack until its operands are decided.
  llvm::SmallVector<mlir::Operation *> stack{wanted};
  while (!stack.empty()) {
    mlir::Operation *op = stack.back();
    if (known_.contains(op)) {
      stack.pop_back();
      continue;
    }
    bool possible = mlir::isa<ReferenceInterface>(op) && op->getNumRegions() == 0 &&
                    !op->hasTrait<WindowGradient>() && llvm::all_of(op->getResults(), isSmall) &&
                    !hasSymbolicPlace(op);
    llvm::SmallVector<mlir::Operation *> unknown;
    for (mlir::Value operand : op->getOperands()) {
      mlir::Operation *source = operand.getDefiningOp();
      auto known = known_.find(source);
      if (!source || (known != known_.end() && !known->second))
        possible = false;
      else if (known == known_.end())
        unknown.push_back(source);
    }
    if (possible && !unknown.empty()) {
      stack.append(unknown);
      continue;
    }
    stack.pop_back();
    if (!possible || !compute(op))
      known_[op] = std::nullopt;
  }
  const Known *known = find(value);
  if (!known)
    return std::nullopt;
  // The caller gets a copy.
  work_ += 16 * mlir::cast<mlir::RankedTensorType>(value.getType()).getNumElements();
  if (work_ > kMaxWork)
    return std::nullopt;
  const auto *numbers = std::get_if<Tensor>(known);
  return numbers ? toSizes(*numbers) : std::get<SizeTensor>(*known);
}

std::optional<Tensor> Evaluator::evaluate(mlir::Value value) {
  if (!value.getDefiningOp())
    return std::nullopt;
  if (!known_.contains(value.getDefiningOp()))
    (void)sizes(value);
  const Known *known = find(value);
  const Tensor *numbers = known ? std::get_if<Tensor>(known) : nullptr;
  return numbers ? std::optional(*numbers) : std::nullopt;
}

// The name of a step's input; empty for anything else. Inputs are the first arguments that a step
// gets; others may not be part of its signature yet.
static std::string inputName(mlir::Value value) {
  auto argument = mlir::dyn_cast<mlir::BlockArgument>(value);
  auto step = argument ? mlir::dyn_cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp())
                       : mlir::func::FuncOp();
  if (!step || argument.getArgNumber() >= step.getNumArguments() ||
      argRole(step, argument.getArgNumber()) != Role::Input)
    return "";
  return argName(step, argument.getArgNumber()).str();
}

// Example numbers for the elements of the input, up to 3.
static std::string exampleOf(mlir::Value input) {
  int64_t count = elementCount(input.getType()).constant().value_or(3);
  return count < 2 ? "1" : count == 2 ? "1,2" : "1,2,3";
}

static std::string dependsOnInputs(const std::map<std::string, mlir::Value> &inputs) {
  std::string list;
  for (const auto &[name, input] : inputs)
    list += (list.empty() ? "'" : ", '") + name + "'";
  return "depends on the input" + std::string(inputs.size() > 1 ? "s " : " ") + list +
         ", expected it to be known; give --value " + inputs.begin()->first + "=" +
         exampleOf(inputs.begin()->second) + ", say";
}

// The symbols in an op's result types and sizes.
static void noteSymbols(mlir::Operation *op, std::set<std::string> &symbols) {
  auto note = [&](const std::string &text) {
    for (const std::string &name : Polynomial::parse(text)->symbols())
      symbols.insert(name);
  };
  for (mlir::Value result : op->getResults())
    for (const Polynomial &dim : shapeOf(result))
      note(dim.str());
  auto sizes = mlir::dyn_cast<SizesOp>(op);
  if (!sizes)
    return;
  note(sizes.getDivisor().str());
  for (llvm::StringRef text : sizes.getValues().getAsValueRange<mlir::StringAttr>())
    note(text.str());
}

// The name of a buffer that the program writes; empty: it is something else.
static std::string stateName(mlir::Value value) {
  auto argument = mlir::cast<mlir::BlockArgument>(value);
  auto step = mlir::dyn_cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
  unsigned number = argument.getArgNumber();
  return step && number < step.getNumArguments() && argRole(step, number) == Role::State
             ? argName(step, number).str()
             : "";
}

std::string Evaluator::whyUnknown(mlir::Value value) {
  std::set<std::string> symbols;
  std::map<std::string, mlir::Value> inputs;
  llvm::DenseSet<mlir::Value> seen{value};
  llvm::SmallVector<mlir::Value> open{value};
  while (!open.empty()) {
    mlir::Value next = open.pop_back_val();
    mlir::Operation *op = next.getDefiningOp();
    if (!op) {
      std::string name = inputName(next);
      if (std::string state = stateName(next); !state.empty())
        return "depends on '" + state + "', which the program writes, expected it to be known";
      if (name.empty()) // weights, too
        return "depends on data, expected it to be known";
      inputs[name] = next;
      continue;
    }
    noteSymbols(op, symbols);
    for (mlir::Value operand : op->getOperands())
      if (seen.insert(operand).second)
        open.push_back(operand);
  }
  if (!inputs.empty())
    return dependsOnInputs(inputs);
  return symbols.empty() ? "is too large to be looked at"
                         : dependsOnSymbols({symbols.begin(), symbols.end()});
}

std::string dependsOnSymbols(const std::vector<std::string> &symbols) {
  std::string names, options;
  for (const std::string &symbol : symbols) {
    names += (names.empty() ? "'" : ", '") + symbol + "'";
    options += " --set " + symbol + "=8";
  }
  return "depends on the symbol" + std::string(symbols.size() == 1 ? " " : "s ") + names +
         ": give" + options + ", say";
}

} // namespace cleave::emit
