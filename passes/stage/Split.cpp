// First the chunk of each op is found, then what each stage needs, and which values are passed;
// then each stage's module is a clone that loses the rest. See Split.h.
#include "passes/stage/Split.h"

#include "dialects/graph/Build.h"
#include "dialects/graph/Messages.h"
#include "dialects/graph/SignatureEdit.h"
#include "dialects/graph/Stage.h"
#include "dialects/graph/Transfer.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <set>

using namespace mlir;

namespace cleave::stage {

namespace {

// The homes of values that every stage computes for itself: those that depend on no chunk's values,
// and those that depend on values of several chunks.
constexpr int64_t kAnywhere = -1, kShared = -2;

// A value that one stage passes to another.
struct Message {
  Value value;                        // at the sender
  Value result;                       // at the receiver: `value`, or the transfer of it
  int64_t from = 0, to = 0;           // stages
  int64_t fromChunk = 0, toChunk = 0; // by their numbers in these stages
  graph::Passed passed = graph::Passed::Update;

  std::string name(size_t number) const {
    return "stage" + std::to_string(from) + "-" + std::to_string(to) + "." + std::to_string(number);
  }
};

class Splitter {
public:
  Splitter(func::FuncOp step, ArrayRef<int64_t> placement)
      : step_(step), body_(step.getBody().front()), placement_(placement),
        chunks_(*llvm::max_element(placement) + 1), needed_(chunks_.size()),
        results_(chunks_.size()), trains_(!body_.getOps<graph::AccumulateOp>().empty()) {
    for (auto [chunk, stage] : llvm::enumerate(placement)) {
      number_.push_back(static_cast<int64_t>(chunks_[stage].size()));
      chunks_[stage].push_back(static_cast<int64_t>(chunk));
    }
  }

  int64_t count() const { return static_cast<int64_t>(chunks_.size()); }

  LogicalResult analyze() {
    findHomes();
    splitSums();
    repeated_ = graph::perMicroBatch(step_);
    for (unsigned i = 0; i < step_.getNumResults(); ++i)
      if (failed(needResult(i)))
        return failure();
    return needReplaced();
  }

  OwningOpRef<ModuleOp> stage(int64_t stage) {
    auto module = step_->getParentOfType<ModuleOp>();
    IRMapping map;
    OwningOpRef<ModuleOp> clone(cast<ModuleOp>(module->clone(map)));
    graph::setStage(*clone, {stage, count(), chunks_[stage]});
    func::FuncOp step = graph::stepOf(*clone);
    graph::SignatureEdit edit(step);
    addMessages(stage, map, step, edit);
    edit.commit();
    dropResults(stage, step);
    for (Operation &op : llvm::reverse(body_.without_terminator()))
      if (!needed_[stage].contains(&op) || isMessage(&op))
        map.lookup(&op)->erase();
    dropArguments(step);
    return clone;
  }

private:
  int64_t homeOf(Value value) const {
    auto it = homes_.find(value);
    return it == homes_.end() ? kAnywhere : it->second;
  }

  void findHome(Operation *op) {
    int64_t home = kAnywhere;
    if (auto transfer = dyn_cast<graph::TransferOp>(op))
      home = static_cast<int64_t>(transfer.getTo());
    else
      for (Value operand : op->getOperands())
        if (int64_t other = homeOf(operand); other != kAnywhere)
          home = home == kAnywhere || home == other ? other : kShared;
    for (Value result : op->getResults())
      homes_[result] = home;
  }

  void findHomes() {
    for (Operation &op : body_.without_terminator())
      findHome(&op);
  }

  // Sums gradients of different chunks, as of a tied parameter, once per step instead of once per
  // micro-batch: accumulate(a + b) becomes accumulate(a) + accumulate(b), and concatenations alike.
  void splitSums() {
    SmallVector<graph::AccumulateOp> sums(body_.getOps<graph::AccumulateOp>());
    while (!sums.empty()) {
      graph::AccumulateOp sum = sums.pop_back_val();
      Operation *joined = sum.getOperand().getDefiningOp();
      if (homeOf(sum.getOperand()) != kShared || !isa<graph::AddOp, graph::ConcatOp>(joined))
        continue;
      OpBuilder b(sum);
      IRMapping parts;
      for (Value operand : joined->getOperands()) {
        auto part = graph::AccumulateOp::create(b, sum.getLoc(), operand, sum.getCount());
        findHome(part);
        parts.map(operand, part.getResult());
        sums.push_back(part);
      }
      Operation *whole = b.clone(*joined, parts);
      findHome(whole);
      sum.replaceAllUsesWith(whole->getResult(0));
      sum.erase();
      if (joined->use_empty())
        joined->erase();
    }
  }

  LogicalResult needResult(unsigned i) {
    Value value = body_.getTerminator()->getOperand(i);
    if (graph::aliasOf(step_, i))
      return homeOf(value) < 0 ? success() : needResultAt(placement_[homeOf(value)], i);
    for (int64_t stage = 0; stage < count(); ++stage)
      if (failed(needResultAt(stage, i)))
        return failure();
    return success();
  }

  // Lets every stage that reads a parameter or state replace it, too, and a state of a parameter
  // every stage that holds that one; the first stage replaces those that are left.
  LogicalResult needReplaced() {
    llvm::StringMap<unsigned> parameters;
    for (unsigned i = 0; i < step_.getNumArguments(); ++i)
      if (graph::argRole(step_, i) == Role::Parameter)
        parameters[graph::argName(step_, i)] = i;
    auto isHeld = [&](int64_t stage, unsigned argument) {
      auto owner = step_.getArgAttrOfType<StringAttr>(argument, "graph.parameter");
      auto parameter = owner ? parameters.find(owner.getValue()) : parameters.end();
      return arguments_.contains({stage, argument}) ||
             (parameter != parameters.end() && arguments_.contains({stage, parameter->second}));
    };
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      std::optional<unsigned> left;
      for (unsigned i = 0; i < step_.getNumResults(); ++i) {
        const std::optional<unsigned> argument = graph::aliasOf(step_, i);
        if (!argument)
          continue;
        bool isReplaced = false;
        for (int64_t stage = 0; stage < count(); ++stage) {
          if (isHeld(stage, *argument) && !results_[stage].contains(i)) {
            if (failed(needResultAt(stage, i)))
              return failure();
            isChanged = true;
          }
          isReplaced |= results_[stage].contains(i);
        }
        if (!isReplaced)
          left = i;
      }
      if (!isChanged && left) {
        if (failed(needResultAt(0, *left)))
          return failure();
        isChanged = true;
      }
    }
    return success();
  }

  LogicalResult needResultAt(int64_t stage, unsigned i) {
    results_[stage].insert(i);
    if (const std::optional<unsigned> argument = graph::aliasOf(step_, i))
      arguments_.insert({stage, *argument});
    return need(stage, body_.getTerminator()->getOperand(i));
  }

  // Marks what `stage` computes and receives so that it has the value.
  LogicalResult need(int64_t stage, Value value) {
    SmallVector<std::pair<int64_t, Value>> work = {{stage, value}};
    while (!work.empty()) {
      auto [at, read] = work.pop_back_val();
      Operation *op = read.getDefiningOp();
      if (!op) {
        arguments_.insert({at, cast<BlockArgument>(read).getArgNumber()});
        continue;
      }
      const int64_t home = homeOf(read);
      if (home >= 0 && placement_[home] != at) {
        if (!received_.insert({at, read}).second)
          continue;
        if (trains_ && repeated_.contains(op) && !isa<graph::AccumulateOp>(op))
          return op->emitOpError("belongs to stage ")
                 << placement_[home] << ", and stage " << at
                 << " reads its result in every micro-batch without a graph.transfer between them; "
                    "give fewer --stages";
        messages_.push_back({read, read, placement_[home], at, 0, 0, graph::Passed::Update});
        work.push_back({placement_[home], read});
        continue;
      }
      if (!needed_[at].insert(op).second)
        continue;
      if (isMessage(op)) {
        auto transfer = cast<graph::TransferOp>(op);
        const uint64_t from = transfer.getFrom(), to = transfer.getTo();
        messages_.push_back({transfer.getOperand(), read, placement_[from], at, number_[from],
                             number_[to],
                             from < to ? graph::Passed::Forward : graph::Passed::Backward});
        work.push_back({placement_[from], transfer.getOperand()});
        continue;
      }
      for (Value operand : op->getOperands())
        work.push_back({at, operand});
    }
    return success();
  }

  void addMessages(int64_t stage, IRMapping &map, func::FuncOp step,
                   graph::SignatureEdit &edit) const {
    Builder b(step.getContext());
    auto attributes = [&](const Message &message, int64_t peer, int64_t chunk) {
      return SmallVector<NamedAttribute>{
          b.getNamedAttr(graph::kMessage, b.getStringAttr(graph::nameOf(message.passed))),
          b.getNamedAttr(graph::kPeer, b.getI64IntegerAttr(peer)),
          b.getNamedAttr(graph::kChunk, b.getI64IntegerAttr(chunk))};
    };
    for (auto [number, message] : llvm::enumerate(messages_)) {
      if (message.to != stage)
        continue;
      BlockArgument argument =
          edit.addArgument(message.result.getType(), message.name(number), Role::Received);
      for (NamedAttribute each : attributes(message, message.from, message.toChunk))
        edit.setArgAttr(argument.getArgNumber(), each.getName(), each.getValue());
      map.lookup(message.result).replaceAllUsesWith(argument);
      map.map(message.result, argument);
    }
    unsigned result = step.getNumResults();
    for (auto [number, message] : llvm::enumerate(messages_)) {
      if (message.from != stage)
        continue;
      edit.addResult(map.lookup(message.value), message.name(number), Role::Sent);
      for (NamedAttribute each : attributes(message, message.to, message.fromChunk))
        edit.setResultAttr(result, each.getName(), each.getValue());
      ++result;
    }
  }

  void dropResults(int64_t stage, func::FuncOp step) {
    llvm::BitVector dropped(step.getNumResults());
    for (unsigned i = 0; i < step_.getNumResults(); ++i)
      dropped[i] = !results_[stage].contains(i);
    graph::eraseResults(step, dropped);
  }

  // Erases the arguments that are neither read nor replaced.
  static void dropArguments(func::FuncOp step) {
    llvm::BitVector dropped(step.getNumArguments());
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      dropped[i] = step.getArgument(i).use_empty();
    for (unsigned i = 0; i < step.getNumResults(); ++i)
      if (std::optional<unsigned> argument = graph::aliasOf(step, i))
        dropped[*argument] = false;
    graph::eraseArguments(step, dropped);
  }

  // Whether the op is a transfer between chunks of different stages.
  bool isMessage(Operation *op) const {
    auto transfer = dyn_cast<graph::TransferOp>(op);
    return transfer && placement_[transfer.getFrom()] != placement_[transfer.getTo()];
  }

  func::FuncOp step_;
  Block &body_;
  ArrayRef<int64_t> placement_;              // by chunk: its stage
  std::vector<int64_t> number_;              // by chunk: its number in its stage
  std::vector<std::vector<int64_t>> chunks_; // by stage
  llvm::DenseMap<Value, int64_t> homes_;     // chunks
  llvm::DenseSet<Operation *> repeated_;
  std::vector<llvm::DenseSet<Operation *>> needed_; // by stage
  std::vector<std::set<unsigned>> results_;         // by stage: results of the whole step
  bool trains_; // false: an evaluation, which runs one micro-batch
  std::set<std::pair<int64_t, unsigned>> arguments_; // (stage, argument of the whole step)
  llvm::DenseSet<std::pair<int64_t, Value>> received_;
  std::vector<Message> messages_;
};

} // namespace

FailureOr<std::vector<OwningOpRef<ModuleOp>>> splitIntoStages(ModuleOp module,
                                                              ArrayRef<int64_t> placement) {
  Splitter splitter(graph::stepOf(module), placement);
  if (failed(splitter.analyze()))
    return failure();
  std::vector<OwningOpRef<ModuleOp>> modules;
  for (int64_t stage = 0; stage < splitter.count(); ++stage)
    modules.push_back(splitter.stage(stage));
  return modules;
}

} // namespace cleave::stage
