// Structure: the kernel group. Its factor rule is composed from the rules of the ops inside.
#include "dialects/graph/Pointwise.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace cleave::graph {

namespace {

// The factors of a group while its rule is composed. A factor is atomic, equal to another factor,
// or a product of other factors.
class FactorSet {
public:
  int add(Factor factor) {
    factors.push_back(std::move(factor));
    parts_.push_back({static_cast<int>(factors.size()) - 1});
    return static_cast<int>(factors.size()) - 1;
  }

  // Expands a list of factors to atomic ones, major to minor.
  std::vector<int> resolve(const std::vector<int> &list) const {
    std::vector<int> atoms, stack(list.rbegin(), list.rend());
    while (!stack.empty()) {
      int factor = stack.back();
      stack.pop_back();
      if (parts_[factor].size() == 1 && parts_[factor][0] == factor)
        atoms.push_back(factor);
      else
        stack.insert(stack.end(), parts_[factor].rbegin(), parts_[factor].rend());
    }
    return atoms;
  }

  // Makes two lists of factors of the same dim equal.
  void unify(const std::vector<int> &first, const std::vector<int> &second) {
    while (true) {
      std::vector<int> a = withoutOnes(first), b = withoutOnes(second);
      while (!a.empty() && !b.empty() && a.back() == b.back())
        a.pop_back(), b.pop_back();
      if (a.empty() || b.empty())
        return;
      if (!join(a.back(), b.back())) {
        for (int factor : a)
          factors[factor].kind = FactorKind::Replicated;
        for (int factor : b)
          factors[factor].kind = FactorKind::Replicated;
        return;
      }
    }
  }

  std::vector<Factor> factors;

private:
  std::vector<int> withoutOnes(const std::vector<int> &list) const {
    std::vector<int> atoms = resolve(list);
    llvm::erase_if(atoms, [&](int f) { return factors[f].size == Polynomial(1); });
    return atoms;
  }

  // Joins the minor-most atoms of two lists: they are equal, or one is a multiple of the other and
  // is split. Returns false if neither is the case.
  bool join(int a, int b) {
    if (factors[a].size == factors[b].size) {
      mergeKind(factors[a], factors[b]);
      parts_[b] = {a};
      return true;
    }
    if (auto quotient = factors[a].size.dividedBy(factors[b].size))
      return split(a, *quotient, b);
    if (auto quotient = factors[b].size.dividedBy(factors[a].size))
      return split(b, *quotient, a);
    return false;
  }
  bool split(int whole, const Polynomial &quotient, int minor) {
    Factor major = factors[whole];
    major.size = quotient;
    mergeKind(factors[minor], factors[whole]);
    int id = add(major);
    parts_[whole] = {id, minor};
    return true;
  }
  static void mergeKind(Factor &into, const Factor &from) {
    if (from.kind == FactorKind::Replicated)
      into.kind = FactorKind::Replicated;
    else if (from.kind == FactorKind::Reduction && into.kind == FactorKind::PassThrough) {
      into.kind = FactorKind::Reduction;
      into.reduce = from.reduce;
    } else if (from.kind == FactorKind::Reduction && into.kind == FactorKind::Reduction &&
               from.reduce != into.reduce)
      into.kind = FactorKind::Replicated;
  }

  std::vector<std::vector<int>> parts_;
};

class RuleComposer {
public:
  explicit RuleComposer(FusionOp fusion) : fusion_(fusion) {}

  FactorRule compose() {
    Block &body = fusion_.getBody().front();
    for (BlockArgument argument : body.getArguments())
      dimsOf_[argument] = freshDims(argument);
    bool linear = true;
    for (Operation &op : body.without_terminator())
      linear &= addOp(&op);
    return finish(body, linear);
  }

private:
  FactorRule::Dims freshDims(Value value) {
    FactorRule::Dims dims;
    for (const Polynomial &size : shapeOf(value))
      dims.push_back({set_.add({size})});
    return dims;
  }

  // Adds the rule of one op. Returns whether the op is linear.
  bool addOp(Operation *op) {
    FactorRule rule = cast<FactorRuleInterface>(op).getFactorRule();
    std::vector<int> ids;
    for (const Factor &factor : rule.factors)
      ids.push_back(set_.add(factor));
    auto translate = [&](const FactorRule::Dims &dims) {
      FactorRule::Dims out;
      for (const auto &dim : dims) {
        out.emplace_back();
        for (int factor : dim)
          out.back().push_back(ids[factor]);
      }
      return out;
    };
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      FactorRule::Dims dims = translate(rule.operands[i]);
      for (size_t d = 0; d < dims.size(); ++d)
        set_.unify(dimsOf_[operand][d], dims[d]);
    }
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      dimsOf_[result] = translate(rule.results[i]);
    bool usedInside =
        llvm::any_of(op->getUsers(), [](Operation *user) { return !isa<YieldOp>(user); });
    for (int id : ids)
      if (set_.factors[id].kind == FactorKind::Reduction)
        reductions_.push_back({id, op, usedInside});
    return rule.linear;
  }

  // A sum over a split factor is partial. A reduction factor may only be split if no op of the
  // group uses such a sum, and if every result without the factor is such a sum.
  FactorRule finish(Block &body, bool linear) {
    Operation *yield = body.getTerminator();
    for (const auto &reduction : reductions_)
      for (int atom : set_.resolve({reduction.factor})) {
        bool partialEverywhere = !reduction.usedInside;
        for (Value value : yield->getOperands())
          partialEverywhere &= holds(value, atom) || reduces(value.getDefiningOp(), atom);
        if (!partialEverywhere)
          set_.factors[atom].kind = FactorKind::Replicated;
      }
    return collect(body, linear);
  }

  bool holds(Value value, int atom) {
    return llvm::any_of(dimsOf_[value], [&](const auto &dim) {
      return llvm::is_contained(set_.resolve(dim), atom);
    });
  }
  bool reduces(Operation *op, int atom) {
    return llvm::any_of(reductions_, [&](const auto &r) {
      return r.op == op && llvm::is_contained(set_.resolve({r.factor}), atom);
    });
  }

  // Builds the final rule of the atoms that occur in an operand or result, numbered in order of
  // appearance.
  FactorRule collect(Block &body, bool linear) {
    FactorRule rule;
    rule.linear = linear;
    llvm::DenseMap<int, int> numbers;
    auto take = [&](Value value) {
      FactorRule::Dims out;
      for (const auto &dim : dimsOf_[value]) {
        out.emplace_back();
        for (int atom : set_.resolve(dim)) {
          auto [it, isNew] = numbers.try_emplace(atom, static_cast<int>(rule.factors.size()));
          if (isNew)
            rule.factors.push_back(set_.factors[atom]);
          out.back().push_back(it->second);
        }
      }
      return out;
    };
    for (BlockArgument argument : body.getArguments())
      rule.operands.push_back(take(argument));
    for (Value value : body.getTerminator()->getOperands())
      rule.results.push_back(take(value));
    return rule;
  }

  struct ReducedFactor {
    int factor;
    Operation *op;
    bool usedInside;
  };

  FusionOp fusion_;
  FactorSet set_;
  llvm::DenseMap<Value, FactorRule::Dims> dimsOf_;
  std::vector<ReducedFactor> reductions_;
};

} // namespace

FactorRule FusionOp::getFactorRule() { return RuleComposer(*this).compose(); }

Polynomial FusionOp::getFlops() {
  Polynomial flops;
  for (Operation &op : getBody().front().without_terminator())
    flops += cast<CostInterface>(op).getFlops();
  return flops;
}

SmallVector<Tensor> FusionOp::evaluate(ArrayRef<Tensor> operands) {
  llvm::DenseMap<Value, Tensor> values;
  Block &body = getBody().front();
  for (auto [argument, tensor] : llvm::zip(body.getArguments(), operands))
    values[argument] = tensor;
  for (Operation &op : body.without_terminator()) {
    SmallVector<Tensor> inputs;
    for (Value operand : op.getOperands())
      inputs.push_back(values[operand]);
    SmallVector<Tensor> outputs = cast<ReferenceInterface>(op).evaluate(inputs);
    for (auto [result, tensor] : llvm::zip(op.getResults(), outputs))
      values[result] = tensor;
  }
  SmallVector<Tensor> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(values[value]);
  return results;
}

LogicalResult FusionOp::verify() {
  Block &body = getBody().front();
  if (body.getArgumentTypes() != getOperandTypes()) {
    auto diag = emitOpError() << "has operands and block arguments of different types";
    for (auto [argument, operand] : llvm::zip(body.getArguments(), getOperands()))
      if (argument.getType() != operand.getType())
        diag.attachNote(operand.getLoc()) << "this operand has type " << operand.getType()
                                          << ", its argument " << argument.getType();
    return diag;
  }
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getOperandTypes() != getResultTypes()) {
    auto diag = emitOpError() << "must yield exactly its results";
    diag.attachNote(body.getTerminator()->getLoc()) << "the group ends here";
    return diag;
  }
  for (Operation &op : body.without_terminator())
    if (!isa<FactorRuleInterface>(op) || op.hasTrait<GroupBoundary>()) {
      auto diag = op.emitOpError("cannot be part of a kernel group");
      diag.attachNote(getLoc()) << "the group begins here";
      return diag;
    }
  return success();
}

// graph.fusion (%a = %x : tensor<…>, …) -> (tensor<…>) { … }
void FusionOp::print(OpAsmPrinter &printer) {
  printer << " (";
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getOperands()), printer,
                        [&](auto pair) {
                          printer << std::get<0>(pair) << " = " << std::get<1>(pair) << " : "
                                  << std::get<1>(pair).getType();
                        });
  printer << ") -> (";
  llvm::interleaveComma(getResultTypes(), printer);
  printer << ") ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs());
}

ParseResult FusionOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  auto parsePair = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()) ||
                   parser.parseColonType(arguments.back().type));
  };
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parsePair) ||
      parser.parseArrowTypeList(state.types) || parser.parseRegion(*state.addRegion(), arguments) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  SmallVector<Type> types = llvm::map_to_vector(arguments, [](const auto &a) { return a.type; });
  return parser.resolveOperands(operands, types, at, state.operands);
}

} // namespace cleave::graph
