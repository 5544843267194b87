// See Cut.h.
#include "passes/stage/Cut.h"

#include "dialects/graph/FedArguments.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/Transfer.h"
#include "passes/stage/Balance.h"

#include <map>

using namespace mlir;

namespace cleave::stage {

namespace {

class Cutter {
public:
  explicit Cutter(func::FuncOp step) : step_(step), body_(step.getBody().front()) { findPassed(); }

  // The ops whose results may be passed, in order.
  ArrayRef<Operation *> ops() const { return ops_; }

  Chain chain(const CutCosts &costs) const {
    Chain chain;
    chain.crossing.resize(ops_.size() + 1);
    for (auto [i, op] : llvm::enumerate(ops_)) {
      const std::optional<int64_t> flops = cast<graph::CostInterface>(op).getFlops().constant();
      chain.seconds.push_back(costs.secondsPerFlop * static_cast<double>(flops.value_or(0)));
      for (Value result : op->getResults()) {
        const std::optional<int64_t> bytes = graph::byteCount(result.getType()).constant();
        size_t last = i;
        for (Operation *user : result.getUsers())
          last = std::max(last, number_.lookup(user));
        for (size_t place = i + 1; place <= last; ++place)
          chain.crossing[place] += costs.secondsPerByte * static_cast<double>(bytes.value_or(0));
      }
    }
    return chain;
  }

  void cut(ArrayRef<int64_t> cuts) {
    for (auto [i, op] : llvm::enumerate(ops_)) {
      const int64_t from = llvm::upper_bound(cuts, static_cast<int64_t>(i)) - cuts.begin();
      for (Value result : op->getResults())
        pass(result, from, cuts);
    }
  }

private:
  // Whether a value depends on inputs and on parameters.
  struct Origin {
    bool ofInputs = false, ofParameters = false;
  };

  void findPassed() {
    llvm::DenseMap<Value, Origin> origins;
    for (unsigned i = 0; i < step_.getNumArguments(); ++i)
      origins[step_.getArgument(i)] = {graph::isFed(step_, i),
                                       graph::argRole(step_, i) == Role::Parameter};
    for (Operation &op : body_.without_terminator()) {
      Origin origin;
      for (Value operand : op.getOperands()) {
        const Origin &read = origins[operand];
        origin.ofInputs |= read.ofInputs;
        origin.ofParameters |= read.ofParameters;
      }
      for (Value result : op.getResults())
        origins[result] = origin;
      if (origin.ofInputs && origin.ofParameters) {
        number_[&op] = ops_.size();
        ops_.push_back(&op);
      }
    }
  }

  // Lets the readers in later stages read the value through transfers, one per border.
  void pass(Value value, int64_t from, ArrayRef<int64_t> cuts) {
    std::map<int64_t, SmallVector<OpOperand *>> readers; // by stage
    for (OpOperand &use : value.getUses())
      if (auto it = number_.find(use.getOwner()); it != number_.end())
        readers[llvm::upper_bound(cuts, static_cast<int64_t>(it->second)) - cuts.begin()].push_back(
            &use);
    if (readers.empty())
      return;
    OpBuilder b(step_.getContext());
    b.setInsertionPointAfterValue(value);
    Value passed = value;
    for (int64_t stage = from + 1; stage <= readers.rbegin()->first; ++stage) {
      passed = graph::TransferOp::create(b, value.getLoc(), passed, stage - 1, stage);
      for (OpOperand *use : readers[stage])
        use->set(passed);
    }
  }

  func::FuncOp step_;
  Block &body_;
  std::vector<Operation *> ops_;
  llvm::DenseMap<Operation *, size_t> number_; // in `ops_`
};

} // namespace

LogicalResult cutIntoStages(func::FuncOp step, int64_t stages, const CutCosts &costs) {
  Cutter cutter(step);
  if (static_cast<int64_t>(cutter.ops().size()) < stages)
    return emitError(step.getLoc())
           << "the model cannot be cut into " << stages << " stages: " << cutter.ops().size()
           << " of its ops depend on both inputs and parameters; give fewer --stages";
  cutter.cut(balancedCuts(cutter.chain(costs), stages));
  return success();
}

} // namespace cleave::stage
