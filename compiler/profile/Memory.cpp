// See Memory.h. Liveness is that of a list: a buffer lives from the op that computes it to the last
// op that reads it.
#include "compiler/profile/Memory.h"

#include "compiler/profile/Names.h"
#include "dialects/graph/Step.h"

#include <algorithm>

using namespace mlir;

namespace cleave::profile {

mlir::Value bufferOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (op->getNumOperands() == 0 || isa<graph::BroadcastOp>(op))
      return {};
    if (!isa<graph::ReshapeOp, graph::AccumulateOp>(op))
      return value;
    value = op->getOperand(0);
  }
  return value;
}

namespace {

// The candidates for the largest value.
class Maxima {
public:
  void add(const Polynomial &bytes, Operation *at) {
    for (const auto &[known, where] : candidates_)
      if (neverExceeds(bytes, known))
        return;
    std::erase_if(candidates_, [&](const auto &known) { return neverExceeds(known.first, bytes); });
    candidates_.emplace_back(bytes, at);
  }

  std::vector<Peak> take() {
    std::stable_sort(candidates_.begin(), candidates_.end(), [](const auto &a, const auto &b) {
      return estimate(a.first) > estimate(b.first);
    });
    std::vector<Peak> peaks;
    for (const auto &[bytes, at] : candidates_)
      peaks.push_back({bytes, at ? nodeOf(at) : std::string()});
    return peaks;
  }

private:
  static bool neverExceeds(const Polynomial &a, const Polynomial &b) {
    std::optional<int64_t> least = (b - a).atLeast(1);
    return least && *least >= 0;
  }

  static int64_t estimate(const Polynomial &bytes) {
    Polynomial::Binding binding;
    for (const std::string &symbol : bytes.symbols())
      binding[symbol] = 1024;
    return bytes.substitute(binding).constant().value_or(0);
  }

  std::vector<std::pair<Polynomial, Operation *>> candidates_;
};

} // namespace

std::vector<Peak> peaksOf(func::FuncOp step) {
  Block &body = step.getBody().front();
  // The last reader of every buffer; what is returned is never given back.
  llvm::DenseMap<Value, Operation *> lastReader;
  for (Operation &op : body)
    for (Value operand : op.getOperands())
      if (Value buffer = bufferOf(operand))
        lastReader[buffer] = &op;
  Polynomial live;
  for (BlockArgument argument : body.getArguments())
    live += graph::byteCount(argument.getType());
  Maxima maxima;
  maxima.add(live, nullptr);
  for (Operation &op : body.without_terminator()) {
    for (Value result : op.getResults())
      if (bufferOf(result) == result)
        live += graph::byteCount(result.getType());
    maxima.add(live, &op);
    llvm::SmallVector<Value> done;
    for (Value value :
         llvm::concat<Value>(llvm::to_vector(op.getOperands()), llvm::to_vector(op.getResults()))) {
      Value buffer = bufferOf(value);
      if (!buffer || isa<BlockArgument>(buffer) || llvm::is_contained(done, buffer))
        continue;
      auto last = lastReader.find(buffer);
      if (last != lastReader.end() && last->second != &op)
        continue;
      done.push_back(buffer);
      live -= graph::byteCount(buffer.getType());
    }
  }
  return maxima.take();
}

} // namespace cleave::profile
