// Liveness in program order: a buffer lives from the op that computes it to the last op that reads
// it.
#include "compiler/profile/Memory.h"

#include "compiler/profile/Maxima.h"
#include "compiler/profile/Names.h"
#include "dialects/graph/Step.h"

#include "llvm/ADT/SetVector.h"

#include <algorithm>

using namespace mlir;

namespace cleave::profile {

Buffers::Buffers(func::FuncOp step) {
  Block &body = step.getBody().front();
  for (BlockArgument argument : body.getArguments())
    of_[argument] = argument;
  for (Operation &op : body.without_terminator()) {
    bool isConstant = llvm::all_of(op.getOperands(), [&](Value operand) {
      return operand.getDefiningOp() && constants_.contains(operand.getDefiningOp());
    });
    if (isConstant)
      constants_.insert(&op);
    if (isConstant || isa<graph::BroadcastOp>(op))
      continue;
    bool sharesBuffer = op.hasTrait<graph::BufferSharing>();
    for (Value result : op.getResults())
      of_[result] = sharesBuffer ? of(op.getOperand(0)) : result;
  }
}

namespace {

// The bytes of the step's types, as rows.
class TypeBytes {
public:
  explicit TypeBytes(Block &body) : space_(amountsOf(body)) {}

  const AmountSpace &space() const { return space_; }
  const AmountSpace::Row &of(Value value) {
    auto [entry, isNew] = rows_.try_emplace(value.getType());
    if (isNew)
      entry->second = space_.row(graph::byteCount(value.getType()));
    return entry->second;
  }

private:
  static std::vector<Polynomial> amountsOf(Block &body) {
    llvm::SetVector<Type> types(body.getArgumentTypes().begin(), body.getArgumentTypes().end());
    for (Operation &op : body.without_terminator())
      types.insert(op.result_type_begin(), op.result_type_end());
    std::vector<Polynomial> amounts;
    for (Type type : types)
      amounts.push_back(graph::byteCount(type));
    return amounts;
  }

  AmountSpace space_;
  llvm::DenseMap<Type, AmountSpace::Row> rows_;
};

void add(AmountSpace::Row &to, const AmountSpace::Row &row, int64_t times) {
  for (size_t i = 0; i < to.size(); ++i)
    to[i] += times * row[i];
}

// The last reader of every buffer; buffers without readers have their producer. Buffers that the
// step returns have the terminator, which frees nothing.
llvm::DenseMap<Value, Operation *> lastReaders(Block &body, const Buffers &buffers) {
  llvm::DenseMap<Value, Operation *> readers;
  for (Operation &op : body) {
    for (Value operand : op.getOperands())
      if (Value buffer = buffers.of(operand); buffer && !isa<BlockArgument>(buffer))
        readers[buffer] = &op;
    for (Value result : op.getResults())
      if (buffers.of(result) == result)
        readers[result] = &op; // no reader so far
  }
  return readers;
}

int64_t estimate(const Polynomial &bytes) {
  Polynomial::Binding binding;
  for (const std::string &symbol : bytes.symbols())
    binding[symbol] = 1024;
  return bytes.substitute(binding).constant().value_or(0);
}

} // namespace

std::vector<Peak> peaksOf(func::FuncOp step, const Buffers &buffers) {
  Block &body = step.getBody().front();
  TypeBytes bytes(body);
  llvm::DenseMap<Value, Operation *> lastReader = lastReaders(body, buffers);
  AmountSpace::Row live = bytes.space().row(0);
  for (BlockArgument argument : body.getArguments())
    add(live, bytes.of(argument), 1);
  Maxima maxima(bytes.space());
  llvm::SmallVector<Operation *> moments = {nullptr};
  maxima.add(live, 0);
  for (Operation &op : body.without_terminator()) {
    llvm::SmallSetVector<Value, 4> touched;
    for (Value operand : op.getOperands())
      if (Value buffer = buffers.of(operand))
        touched.insert(buffer);
    for (Value result : op.getResults())
      if (buffers.of(result) == result) {
        add(live, bytes.of(result), 1);
        touched.insert(result);
      }
    touched.remove_if([&](Value buffer) {
      auto last = lastReader.find(buffer);
      return last == lastReader.end() || last->second != &op;
    });
    // Not a candidate: nothing is freed here, so the next moment needs at least as much.
    if (touched.empty() && op.getNextNode() != body.getTerminator())
      continue;
    maxima.add(live, moments.size());
    moments.push_back(&op);
    for (Value buffer : touched)
      add(live, bytes.of(buffer), -1);
  }
  std::vector<Peak> peaks;
  for (const Maxima::Candidate &candidate : maxima.take()) {
    Operation *at = moments[candidate.moment];
    peaks.push_back({bytes.space().amount(candidate.row), at ? nodeOf(at) : std::string()});
  }
  std::stable_sort(peaks.begin(), peaks.end(), [](const Peak &a, const Peak &b) {
    return estimate(a.bytes) > estimate(b.bytes);
  });
  return peaks;
}

} // namespace cleave::profile
