// List scheduling: keeps the given order, but runs ops that free memory early.
#include "passes/schedule/Order.h"

#include "dialects/graph/Stage.h"
#include "dialects/graph/Step.h"
#include "dialects/mesh/MeshDialect.h"

#include "mlir/Pass/Pass.h"

#include <set>

using namespace mlir;

namespace cleave::schedule {

namespace {

// The memory of a value and of all views of it.
struct Store {
  int64_t bytes = 0; // 0 for arguments and values that replace them: these are always allocated
  llvm::SmallVector<int> users; // ops that read it or a view of it, ascending
  int left = 0;                 // users that have not run; the return is a user that never runs
};

class Ordering {
public:
  explicit Ordering(func::FuncOp step) : step_(step), body_(step.getBody().front()) {
    for (Operation &op : body_.without_terminator())
      ops_.push_back(&op);
    waitsFor_.resize(ops_.size());
    waiting_.resize(ops_.size());
    isDone_.resize(ops_.size());
  }

  void run() {
    findEnds();
    findStores();
    findDependences();
    for (int next = 0; next < static_cast<int>(ops_.size()); ++next) {
      if (!isDone_[next])
        schedule(next);
      const int end = *llvm::upper_bound(ends_, next + 1);
      for (auto it = candidates_.begin(); it != candidates_.end() && *it < end;
           it = candidates_.begin()) {
        int first = *it;
        candidates_.erase(it);
        if (!isDone_[first] && waitsFor_[first] == 0 && freesMemory(first))
          schedule(first);
      }
    }
    for (int op : order_)
      ops_[op]->moveBefore(body_.getTerminator());
  }

private:
  // The parts of the step are in order. An op does not overtake the last op of its part.
  void findEnds() {
    const llvm::DenseMap<Operation *, graph::StagePart> parts = graph::partsOf(step_);
    for (size_t i = 1; i < ops_.size(); ++i)
      if (parts.lookup(ops_[i]) != parts.lookup(ops_[i - 1]))
        ends_.push_back(static_cast<int>(i));
    ends_.insert(ends_.end(), 2, static_cast<int>(ops_.size()) + 1);
  }

  int storeOf(Value value) { return storeOf_.lookup(value); }

  void addStore(Value value, int64_t bytes) {
    storeOf_[value] = static_cast<int>(stores_.size());
    stores_.push_back({bytes, {}, 0});
  }

  void findStores() {
    llvm::DenseSet<Value> inPlace;
    Operation *end = body_.getTerminator();
    for (auto [i, value] : llvm::enumerate(end->getOperands()))
      if (graph::aliasOf(step_, i))
        inPlace.insert(value);
    for (Value argument : step_.getArguments())
      addStore(argument, 0);
    for (auto [number, op] : llvm::enumerate(ops_)) {
      for (Value result : op->getResults())
        if (op->hasTrait<graph::LayoutOnly>())
          storeOf_[result] = storeOf(op->getOperand(0));
        else
          addStore(result, inPlace.contains(result) || graph::splatValue(result)
                               ? 0
                               : graph::byteCount(result.getType()).constant().value_or(0));
      for (Value operand : op->getOperands())
        if (Store &store = stores_[storeOf(operand)];
            store.users.empty() || store.users.back() != static_cast<int>(number))
          store.users.push_back(static_cast<int>(number));
    }
    for (Store &store : stores_)
      store.left = static_cast<int>(store.users.size());
    for (Value value : end->getOperands())
      ++stores_[storeOf(value)].left;
  }

  void addDependence(int before, int after) {
    waiting_[before].push_back(after);
    ++waitsFor_[after];
  }

  void findDependences() {
    llvm::DenseMap<Operation *, int> number;
    for (auto [i, op] : llvm::enumerate(ops_)) {
      number[op] = static_cast<int>(i);
      for (Value operand : op->getOperands())
        if (Operation *maker = operand.getDefiningOp())
          addDependence(number.lookup(maker), static_cast<int>(i));
    }
    Operation *end = body_.getTerminator();
    for (auto [i, value] : llvm::enumerate(end->getOperands())) {
      std::optional<unsigned> argument = graph::aliasOf(step_, i);
      Operation *maker = value.getDefiningOp();
      if (!argument || !maker)
        continue;
      int replaces = number.lookup(maker);
      for (int user : stores_[storeOf(step_.getArgument(*argument))].users)
        if (user < replaces)
          addDependence(user, replaces);
    }
  }

  bool freesMemory(int number) {
    Operation *op = ops_[number];
    int64_t taken = 0, freed = 0;
    bool isInPlace = op->getNumResults() > 0;
    for (Value result : op->getResults()) {
      isInPlace &= llvm::any_of(result.getUses(), [&](OpOperand &use) {
        return use.getOwner() == body_.getTerminator() &&
               graph::aliasOf(step_, use.getOperandNumber());
      });
      taken += op->hasTrait<graph::LayoutOnly>() ? 0 : stores_[storeOf(result)].bytes;
    }
    llvm::SmallDenseSet<int> seen;
    for (Value operand : op->getOperands())
      if (const Store &store = stores_[storeOf(operand)];
          store.left == 1 && seen.insert(storeOf(operand)).second)
        freed += store.bytes;
    return isInPlace || taken < freed;
  }

  void schedule(int number) {
    isDone_[number] = true;
    order_.push_back(number);
    for (int after : waiting_[number])
      if (--waitsFor_[after] == 0)
        candidates_.insert(after);
    llvm::SmallDenseSet<int> seen;
    for (Value operand : ops_[number]->getOperands()) {
      Store &store = stores_[storeOf(operand)];
      if (!seen.insert(storeOf(operand)).second || --store.left != 1)
        continue;
      for (int user : store.users) // the one that is left may free it
        if (!isDone_[user])
          candidates_.insert(user);
    }
  }

  func::FuncOp step_;
  Block &body_;
  std::vector<Operation *> ops_;
  std::vector<int> ends_; // of the parts, ascending
  std::vector<Store> stores_;
  llvm::DenseMap<Value, int> storeOf_;
  std::vector<int> waitsFor_;             // per op: ops that have to run before
  std::vector<std::vector<int>> waiting_; // per op: those that wait for it
  std::vector<bool> isDone_;
  std::vector<int> order_;
  std::set<int> candidates_; // ops whose turn may have come
};

} // namespace

// Moves all-gathers directly before their first readers, which the planner takes for granted.
static void delayGathers(Block &body) {
  for (Operation &gather : llvm::make_early_inc_range(llvm::reverse(body))) {
    if (!isa<mesh::AllGatherOp>(gather))
      continue;
    Operation *first = nullptr;
    for (Operation *user : gather.getUsers())
      if (Operation *reader = body.findAncestorOpInBlock(*user);
          !first || reader->isBeforeInBlock(first))
        first = reader;
    if (first)
      gather.moveBefore(first);
  }
}

void orderParts(func::FuncOp step) {
  const llvm::DenseMap<Operation *, graph::StagePart> parts = graph::partsOf(step);
  Block &body = step.getBody().front();
  delayGathers(body);
  SmallVector<Operation *> ops = graph::opsOf(step);
  llvm::stable_sort(ops,
                    [&](Operation *a, Operation *b) { return parts.lookup(a) < parts.lookup(b); });
  for (Operation *op : ops)
    op->moveBefore(body.getTerminator());
}

void orderForMemory(func::FuncOp step) {
  orderParts(step);
  Ordering(step).run();
}

#define GEN_PASS_DEF_ORDERPASS
#include "passes/schedule/Passes.h.inc"

namespace {

struct OrderPass : impl::OrderPassBase<OrderPass> {
  void runOnOperation() override {
    if (func::FuncOp step = graph::stepOf(getOperation()))
      orderForMemory(step);
  }
};

} // namespace

void registerOrderPass() { PassRegistration<OrderPass>(); }

} // namespace cleave::schedule
