// Lowers the step into a scratch module and reads the buffers' lifetimes.
#include "passes/bufferize/Stores.h"

#include "dialects/graph/Step.h"
#include "passes/bufferize/MatmulForm.h"
#include "passes/bufferize/Offsets.h"
#include "passes/bufferize/StepLowering.h"
#include "passes/schedule/Away.h"
#include "passes/schedule/Lifetimes.h"

using namespace mlir;

namespace cleave::bufferize {

namespace {

class StoreReader {
public:
  // `copyOf`: by buffer that was added the one whose values it holds.
  StoreReader(func::FuncOp step, planner::StepModel &model, ProgramBuilder &program,
              const StepLowering &lowering, const llvm::DenseMap<Value, Value> &copyOf)
      : model_(model), program_(program), lowering_(lowering), copyOf_(copyOf) {
    int values = 0;
    for (Value argument : step.getArguments())
      number_[argument] = values++;
    for (auto [i, op] : llvm::enumerate(graph::opsOf(step))) {
      opNumber_[op] = static_cast<int>(i);
      for (Value result : op->getResults())
        number_[result] = values++;
    }
    assert(values == static_cast<int>(model.values.size()) && "the model is of another step");
  }

  void run() {
    for (planner::Op &op : model_.ops) {
      op.hasKernel = op.addsToSum = op.isAddedByProducer = false;
      op.moves.clear();
    }
    for (planner::Output &output : model_.outputs)
      output.copies = 0;
    readInstructions();
    for (Operation *op : lowering_.order().drop_back())
      readOrders(op, model_.ops[opNumber_.lookup(op)]);
    setRuns();
    readAway();
    model_.stores.clear();
    for (auto buffer : program_.program().getBody().front().getOps<program::BufferOp>())
      readBuffer(buffer);
    addSummands();
  }

private:
  // The positions of the instructions, and of each op's first and last one. What an op does before
  // the first micro-batch is no part of its run.
  void readInstructions() {
    for (auto segment : program_.program().getBody().front().getOps<program::SegmentOp>()) {
      const int64_t times = lowering_.runsOf(segment);
      for (Operation &instruction : segment.getBody().front()) {
        readWork(instruction, times);
        Operation *source = program_.sourceOf(&instruction);
        for (Value buffer : instruction.getOperands())
          firstReader_.try_emplace(buffer, source);
        if (source && segment.getName() != "begin") {
          auto [it, isNew] = positions_.try_emplace(source, position_, position_);
          it->second.second = position_;
        }
        ++position_;
      }
    }
    model_.instants = 3 * position_;
  }

  // Adds the instruction, which runs so often per step, to what its op or result does.
  void readWork(Operation &instruction, int64_t times) {
    using Kind = planner::Move::Kind;
    const int64_t copied = program_.copiedBytes(&instruction);
    const int result = program_.resultOf(&instruction);
    Operation *source = program_.sourceOf(&instruction);
    auto fill = dyn_cast<program::FillOp>(instruction);
    if (result >= 0 && copied)
      return addReturn(model_.outputs[result], times);
    if (!source)
      return;
    planner::Op &op = model_.ops[opNumber_.lookup(source)];
    if (copied)
      op.moves.push_back(moveOf(op, Kind::Copy, copied, times));
    else if (fill)
      op.moves.push_back(moveOf(op, Kind::Fill, bytesOf(fill.getBuffer()), times));
    else
      op.hasKernel = true;
    if (auto product = dyn_cast<program::MatmulOp>(instruction); product && product.getAccumulate())
      op.addsToSum = true;
  }

  // Replaces copies that depend on the shapes of blocks by what decides on them. For a product,
  // these copy whole operands or results; the conversion of its bias, a share of the result, stays.
  void readOrders(Operation *op, planner::Op &plain) {
    plain.product.reset();
    plain.copiesBehindProducer = false;
    plain.copyOrder.reset();
    std::vector<cost::MemoryOrder> orders;
    for (const cost::Strided &tensor : lowering_.stridedOf(op))
      if (std::optional<cost::MemoryOrder> order = cost::memoryOrder(tensor))
        orders.push_back(std::move(*order));
    if (auto dot = dyn_cast<graph::DotGeneralOp>(op); dot && orders.size() == 3) {
      plain.product = {productDims(dot), orders[0], orders[1], orders[2]};
      llvm::erase_if(plain.moves, [](const planner::Move &move) {
        return move.kind == planner::Move::Kind::Copy && move.share == 1;
      });
    } else if (isa<graph::ReshapeOp>(op) && orders.size() == 1) {
      plain.copiesBehindProducer =
          lowering_.stridedOf(op)[0].shape == graph::staticShapeOf(op->getResult(0));
      plain.copyOrder = orders[0];
    }
  }

  static int64_t bytesOf(Value buffer) {
    return static_cast<int64_t>(buffer.getDefiningOp<program::BufferOp>().getBytes());
  }

  // A copy of a result of the step. One that replaces no argument is a move of its producer.
  void addReturn(planner::Output &output, int64_t times) {
    const planner::Value &value = model_.values[output.value];
    if (output.argument >= 0)
      output.copies += times;
    else if (value.producer >= 0)
      model_.ops[value.producer].moves.push_back({.result = value.result, .times = times});
  }

  // Moves an operand or result of as many bytes, else a share of the first result.
  planner::Move moveOf(const planner::Op &op, planner::Move::Kind kind, int64_t bytes,
                       int64_t times) const {
    planner::Move move{.kind = kind, .times = times};
    auto fits = [&](int value) { return model_.values[value].bytes() == bytes; };
    if (auto it = llvm::find_if(op.operands, fits); it != op.operands.end())
      move.operand = static_cast<int>(it - op.operands.begin());
    else if (auto it = llvm::find_if(op.results, fits); it != op.results.end())
      move.result = static_cast<int>(it - op.results.begin());
    else
      move.share = static_cast<double>(bytes) /
                   static_cast<double>(std::max<int64_t>(1, model_.values[op.results[0]].bytes()));
    return move;
  }

  // An op without instructions runs, in no time, before the next one that has some.
  void setRuns() {
    int64_t next = position_;
    for (Operation *op : llvm::reverse(lowering_.order().drop_back())) {
      planner::Span &runs = model_.ops[opNumber_.lookup(op)].runs;
      auto it = positions_.find(op);
      runs = it == positions_.end()
                 ? planner::Span{3 * next, 3 * next}
                 : planner::Span{3 * it->second.first + 1, 3 * it->second.second + 2};
      if (it != positions_.end())
        next = it->second.first;
    }
  }

  void readBuffer(program::BufferOp buffer) {
    if (buffer.getSpace() != Space::Device)
      return;
    planner::Store store;
    store.bytes =
        alignedTo(program::bufferAlignmentOf(buffer), static_cast<int64_t>(buffer.getBytes()));
    store.span = {3 * static_cast<int64_t>(buffer.getFirst()) + 1,
                  3 * static_cast<int64_t>(buffer.getLast()) + 2};
    if (isPersistent(buffer.getRole()))
      store.span = {0, model_.instants};
    ArrayRef<Value> tenants = lowering_.tenantsOf(originalOf(buffer));
    if (tenants.empty())
      return readWorkspace(buffer, store);
    // A tenant stays until the next one is computed in its place. A copy of a buffer in another
    // space or back holds only some of the buffer's tenants.
    for (auto [i, tenant] : llvm::enumerate(tenants)) {
      planner::Store piece = store;
      piece.value = number_.lookup(tenant);
      if (i > 0)
        piece.span.begin = std::max(store.span.begin, movesIn(tenants[i]));
      if (i + 1 < tenants.size())
        piece.span.end = std::min(store.span.end, movesIn(tenants[i + 1]));
      if (piece.span.begin < piece.span.end)
        model_.stores.push_back(piece);
    }
  }

  // A product that adds to a sum has a result of its own where a layout change comes between.
  void addSummands() {
    for (auto [i, op] : llvm::enumerate(model_.ops))
      if (op.addsToSum) {
        const planner::Value &product = model_.values[op.results[0]];
        model_.ops[product.uses[0].op].isAddedByProducer = true;
        model_.stores.push_back({.value = op.results[0],
                                 .op = static_cast<int>(i),
                                 .bytes = product.bytes(),
                                 .span = op.runs});
      }
  }

  Value originalOf(Value buffer) const {
    auto original = copyOf_.find(buffer);
    return original == copyOf_.end() ? buffer : original->second;
  }

  // Counts the copies of each value between spaces.
  void readAway() {
    int64_t position = 0;
    for (auto segment : program_.program().getBody().front().getOps<program::SegmentOp>())
      for (Operation &instruction : segment.getBody().front()) {
        const int64_t instant = 3 * position++ + 1;
        auto copy = dyn_cast<program::CopyOp>(instruction);
        if (!copy || !program::isHostTransfer(copy))
          continue;
        ArrayRef<Value> tenants = lowering_.tenantsOf(originalOf(copy.getFrom()));
        size_t at = 0;
        while (at + 1 < tenants.size() && movesIn(tenants[at + 1]) <= instant)
          ++at;
        planner::Value &value = model_.values[number_.lookup(tenants[at])];
        value.awayCopies += lowering_.runsOf(segment);
        value.space = std::max(copy.getFrom().getDefiningOp<program::BufferOp>().getSpace(),
                               copy.getTo().getDefiningOp<program::BufferOp>().getSpace());
      }
  }

  int64_t movesIn(Value tenant) const {
    return model_.ops[opNumber_.lookup(tenant.getDefiningOp())].runs.end - 1;
  }

  // A buffer for one op: as large as one of its operands or results, or scratch memory.
  void readWorkspace(program::BufferOp buffer, planner::Store store) {
    Operation *op = firstReader_.lookup(buffer);
    if (!op)
      return;
    store.op = opNumber_.lookup(op);
    const planner::Op &plain = model_.ops[store.op];
    const int64_t alignment = program::bufferAlignmentOf(buffer);
    auto fits = [&](int value) {
      return alignedTo(alignment, model_.values[value].bytes()) == store.bytes;
    };
    if (auto it = llvm::find_if(plain.operands, fits); it != plain.operands.end()) {
      store.value = *it;
      store.operand = static_cast<int>(it - plain.operands.begin());
    } else if (auto it = llvm::find_if(plain.results, fits); it != plain.results.end()) {
      store.value = *it;
    }
    model_.stores.push_back(store);
  }

  planner::StepModel &model_;
  ProgramBuilder &program_;
  const StepLowering &lowering_;
  const llvm::DenseMap<Value, Value> &copyOf_;
  llvm::DenseMap<Value, int> number_;
  llvm::DenseMap<Operation *, int> opNumber_;
  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> positions_; // first and last
  llvm::DenseMap<Value, Operation *> firstReader_;                     // per buffer, in the step
  int64_t position_ = 0;
};

} // namespace

LogicalResult readStores(func::FuncOp step, planner::StepModel &model) {
  step.getContext()->loadDialect<program::ProgramDialect>();
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(step.getLoc());
  ProgramTables tables;
  ProgramBuilder program(*scratch, tables);
  StepLowering lowering(step, program);
  if (failed(lowering.run()))
    return failure();
  const llvm::DenseMap<Value, Value> copyOf = schedule::copyAway(program.program());
  schedule::setLifetimes(program.program());
  StoreReader(step, model, program, lowering, copyOf).run();
  return success();
}

} // namespace cleave::bufferize
