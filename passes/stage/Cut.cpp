// See Cut.h.
#include "passes/stage/Cut.h"

#include "dialects/graph/FedArguments.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/Transfer.h"
#include "passes/stage/Balance.h"
#include "passes/stage/Layers.h"

#include "llvm/ADT/SetVector.h"

#include <map>
#include <numeric>

using namespace mlir;

namespace cleave::stage {

namespace {

class Cutter {
public:
  explicit Cutter(func::FuncOp step) : step_(step), body_(step.getBody().front()) { findPassed(); }

  // The ops whose results may be passed, in order.
  ArrayRef<Operation *> ops() const { return ops_; }

  // The first ops of chunks 1, 2, ….
  std::vector<int64_t> balancedCuts(int64_t chunks, const CutCosts &costs) const {
    llvm::DenseMap<Operation *, double> secondsOf;
    for (auto [op, seconds] : llvm::zip_equal(graph::opsOf(step_), costs.opSeconds))
      secondsOf[op] = seconds;
    Chain chain{{}, secondsOfPlaces(costs.secondsPerByte)};
    for (Operation *op : ops_)
      chain.seconds.push_back(secondsOf.at(op));
    return stage::balancedCuts(chain, chunks);
  }

  // The first ops of chunks 1, 2, …, each between two layers, as a layout states them.
  FailureOr<std::vector<int64_t>> layerCuts(const pipelines::LayerLayout &layout) {
    const Result<Layers> layers = layersOf(step_, ops_);
    if (!layers)
      return emitError(step_.getLoc()) << layers.status().message();
    const std::vector<uint32_t> sizes = layout.transformerLayers();
    const auto asked = std::accumulate(sizes.begin(), sizes.end(), size_t(0));
    const std::vector<std::string> &names = layers->names;
    if (asked != names.size())
      return emitError(step_.getLoc())
             << "found " << asked << " layers 't', expected the " << names.size()
             << " of the model, " << names.front() << " to " << names.back();
    const std::vector<double> crossing = secondsOfPlaces(/*secondsPerByte=*/1);
    std::vector<int64_t> cuts;
    size_t before = 0;
    for (uint32_t size : ArrayRef(sizes).drop_back())
      cuts.push_back(narrowest(layers->places[before += size], crossing));
    for (size_t i = 0; i <= cuts.size(); ++i) {
      const int64_t begin = i == 0 ? 0 : cuts[i - 1];
      const int64_t end = i == cuts.size() ? static_cast<int64_t>(ops_.size()) : cuts[i];
      if (begin == end)
        return emitError(step_.getLoc()) << "part " << i + 1 << " of the layout has no ops";
    }
    return cuts;
  }

  // Gives the ops their chunks, and adds the transfers. Returns the chunks of the ops as they were
  // before.
  Chunks cut(ArrayRef<int64_t> cuts) {
    for (auto [i, op] : llvm::enumerate(ops_))
      chunkOf_[op] = llvm::upper_bound(cuts, static_cast<int64_t>(i)) - cuts.begin();
    Chunks chunks;
    if (const Result<Layers> layers = layersOf(step_, ops_))
      chunks.layout = layoutOf(*layers, cuts);
    for (Operation *op : graph::opsOf(step_)) {
      auto it = chunkOf_.find(op);
      chunks.ofOp.push_back(it == chunkOf_.end() ? -1 : it->second);
    }
    addTransfers();
    return chunks;
  }

  // Called when the ops have chunks.
  void addTransfers() {
    repeatOfParameters();
    for (Operation *op : ops_)
      for (Value result : op->getResults())
        pass(result, chunkOf_.lookup(op));
  }

  LogicalResult cutAlong(int64_t chunks, IsHeld isHeld) {
    findStored();
    for (Operation *op : std::vector<Operation *>(ops_))
      if (!place(op, chunks, isHeld))
        return op->emitOpError("reads parameters that no stage holds together");
    llvm::erase_if(ofParameters_, [&](Operation *op) { return chunkOf_.contains(op); });
    addTransfers();
    return success();
  }

private:
  // Finds the stored arguments on which values without a chunk depend, themselves included.
  void findStored() {
    for (unsigned i = 0; i < step_.getNumArguments(); ++i)
      if (!graph::isFed(step_, i))
        stored_[step_.getArgument(i)].insert(i);
    for (Operation &op : body_.without_terminator()) {
      if (number_.contains(&op))
        continue;
      llvm::SmallSetVector<unsigned, 4> read;
      for (Value operand : op.getOperands())
        if (auto it = stored_.find(operand); it != stored_.end())
          read.insert(it->second.begin(), it->second.end());
      for (Value result : op.getResults())
        stored_[result] = read;
    }
  }

  // Whether the chunk's stage holds what the op reads.
  bool holdsAll(Operation *op, int64_t chunk, int64_t chunks, IsHeld isHeld) const {
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      auto read = stored_.find(operand);
      return read == stored_.end() || llvm::all_of(read->second, [&](unsigned argument) {
               const StringRef name = graph::argName(step_, argument);
               return isHeld(name, chunk) || llvm::none_of(llvm::seq(chunks), [&](int64_t other) {
                        return isHeld(name, other);
                      });
             });
    });
  }

  // Gives the op the first chunk that it can be in. If there is none, also gives chunks to the ops
  // on stored values that it reads, so that their results are passed. Returns whether that
  // succeeded.
  bool place(Operation *op, int64_t chunks, IsHeld isHeld) {
    auto tryChunks = [&] {
      int64_t chunk = 0;
      for (Value operand : op->getOperands())
        if (Operation *maker = operand.getDefiningOp())
          chunk = std::max(chunk, chunkOf_.lookup(maker));
      while (chunk < chunks && !holdsAll(op, chunk, chunks, isHeld))
        ++chunk;
      if (chunk == chunks)
        return false;
      chunkOf_[op] = chunk;
      for (Value result : op->getResults())
        stored_.erase(result);
      return true;
    };
    if (tryChunks())
      return true;
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp();
          maker && !chunkOf_.contains(maker) && !stored_.lookup(operand).empty()) {
        if (!place(maker, chunks, isHeld))
          return false;
        ops_.push_back(maker);
      }
    return tryChunks();
  }

  // By place between two ops, of which place i lies before op i: the seconds of passing the values
  // that cross it. The last place lies after all ops, and nothing crosses it.
  std::vector<double> secondsOfPlaces(double secondsPerByte) const {
    std::vector<double> crossing(ops_.size() + 1);
    for (auto [i, op] : llvm::enumerate(ops_))
      for (Value result : op->getResults()) {
        size_t last = i;
        for (Operation *user : result.getUsers())
          last = std::max(last, number_.lookup(user));
        const int64_t bytes = graph::byteCount(result.getType()).constant().value_or(0);
        for (size_t place = i + 1; place <= last; ++place)
          crossing[place] += secondsPerByte * static_cast<double>(bytes);
      }
    return crossing;
  }

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
      } else if (origin.ofParameters) {
        ofParameters_.push_back(&op);
      }
    }
  }

  // The uses of the values in ops that have a chunk, by chunk.
  std::map<int64_t, SmallVector<OpOperand *>> readersOf(ValueRange values) {
    std::map<int64_t, SmallVector<OpOperand *>> readers;
    for (Value value : values)
      for (OpOperand &use : value.getUses())
        if (auto it = chunkOf_.find(use.getOwner()); it != chunkOf_.end())
          readers[it->second].push_back(&use);
    return readers;
  }

  // Gives each chunk its own ops on parameters alone, such as the bias of all attentions of a
  // model: the gradients of different chunks then meet at the parameter, where they are summed once
  // per step.
  void repeatOfParameters() {
    for (Operation *op : llvm::reverse(ofParameters_)) {
      std::map<int64_t, SmallVector<OpOperand *>> readers = readersOf(op->getResults());
      if (readers.empty())
        continue;
      chunkOf_[op] = readers.begin()->first;
      for (auto &[chunk, uses] : llvm::drop_begin(readers)) {
        Operation *copy = OpBuilder(op).clone(*op);
        chunkOf_[copy] = chunk;
        for (OpOperand *use : uses)
          use->set(copy->getResult(cast<OpResult>(use->get()).getResultNumber()));
      }
    }
  }

  // Lets the readers in later chunks read the value through transfers, one per border.
  void pass(Value value, int64_t from) {
    std::map<int64_t, SmallVector<OpOperand *>> readers = readersOf(value);
    if (readers.empty())
      return;
    OpBuilder b(step_.getContext());
    b.setInsertionPointAfterValue(value);
    Value passed = value;
    for (int64_t chunk = from + 1; chunk <= readers.rbegin()->first; ++chunk) {
      passed = graph::TransferOp::create(b, value.getLoc(), passed, chunk - 1, chunk);
      for (OpOperand *use : readers[chunk])
        use->set(passed);
    }
  }

  func::FuncOp step_;
  Block &body_;
  std::vector<Operation *> ops_;
  std::vector<Operation *> ofParameters_;      // those that read parameters and no inputs
  llvm::DenseMap<Operation *, size_t> number_; // in `ops_`
  llvm::DenseMap<Operation *, int64_t> chunkOf_;
  llvm::DenseMap<Value, llvm::SmallSetVector<unsigned, 4>> stored_; // for cutAlong
};

} // namespace

FailureOr<Chunks> cutIntoChunks(func::FuncOp step, int64_t chunks, const CutCosts &costs) {
  Cutter cutter(step);
  if (static_cast<int64_t>(cutter.ops().size()) < chunks)
    return emitError(step.getLoc())
           << "the model cannot be cut into " << chunks << " chunks: " << cutter.ops().size()
           << " of its ops depend on both inputs and parameters; give fewer --stages or --chunks";
  return cutter.cut(cutter.balancedCuts(chunks, costs));
}

FailureOr<Chunks> cutAtLayers(func::FuncOp step, const pipelines::LayerLayout &layout) {
  Cutter cutter(step);
  const FailureOr<std::vector<int64_t>> cuts = cutter.layerCuts(layout);
  if (failed(cuts))
    return failure();
  return cutter.cut(*cuts);
}

LogicalResult cutAlong(func::FuncOp step, int64_t chunks, IsHeld isHeld) {
  return Cutter(step).cutAlong(chunks, isHeld);
}

} // namespace cleave::stage
