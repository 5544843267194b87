// The boundary of the step: arguments become buffers of logical tensors, results replace arguments
// or become outputs and metrics.
#include "compiler/analysis/Vocabulary.h"
#include "dialects/graph/Away.h"
#include "dialects/graph/FedArguments.h"
#include "dialects/graph/MicroBatches.h"
#include "dialects/graph/Step.h"
#include "passes/bufferize/StepLowering.h"

using namespace mlir;

namespace cleave::bufferize {

namespace {

// Per dim the indices of the mesh axes that split it.
ArrayAttr splitOf(Attribute sharding, const Mesh &mesh, Type type) {
  Builder b(type.getContext());
  SmallVector<Attribute> dims(graph::shapeOf(type).size(), b.getArrayAttr({}));
  if (auto attr = dyn_cast_or_null<mesh::ShardingAttr>(sharding))
    if (std::optional<Sharding> plain = mesh::toSharding(attr, mesh))
      for (auto [dim, axes] : llvm::zip(dims, plain->dims)) {
        SmallVector<Attribute> numbers;
        for (int axis : axes)
          numbers.push_back(b.getI64IntegerAttr(axis));
        dim = b.getArrayAttr(numbers);
      }
  return b.getArrayAttr(dims);
}

InputFacts factsOf(func::FuncOp step, unsigned i) {
  auto number = [&](StringRef name) { return step.getArgAttrOfType<IntegerAttr>(i, name); };
  return {number(analysis::kVocabulary), number(analysis::kLowest), number(analysis::kIgnored),
          graph::argRole(step, i) == Role::Label,
          step.getArgAttrOfType<StringAttr>(i, graph::kAllOf)};
}

Type globalType(Attribute global, Type local) {
  auto type = dyn_cast_or_null<TypeAttr>(global);
  return type ? type.getValue() : local;
}

} // namespace

// The buffer of an argument that is a shared tensor: the shared buffer if the tensor is persistent,
// a new one if it is an input. Null if the argument is not a shared tensor.
FailureOr<Value> StepLowering::sharedArgument(unsigned i, Type global, ArrayAttr split) {
  StringRef name = graph::argName(step_, i);
  std::optional<SharedTensor> shared =
      program_.findShared(name, global, step_.getArgAttr(i, "graph.source"));
  if (!shared)
    return Value();
  if (shared->op.getDims() != split)
    return emitError(step_.getLoc()) << "the evaluation splits '" << name << "' as " << split
                                     << ", the step as " << shared->op.getDims();
  program::Role role = shared->op.getRole();
  if (Value buffer = program_.findBuffer(role, shared->index); buffer && isPersistent(role))
    return buffer;
  BlockArgument argument = step_.getArgument(i);
  return program_.addBuffer(name, role, graph::elementTypeOf(argument),
                            graph::staticShapeOf(argument), shared->index);
}

LogicalResult StepLowering::addArguments() {
  if (failed(graph::checkRoles(step_)))
    return failure();
  for (auto [i, argument] : llvm::enumerate(step_.getArguments())) {
    const program::Role role = storedAs(*graph::argRole(step_, i));
    Type global = globalType(step_.getArgAttr(i, mesh::kGlobal), argument.getType());
    ArrayAttr split = splitOf(step_.getArgAttr(i, mesh::kSharding), mesh_, global);
    StringRef name = graph::argName(step_, i);
    std::vector<int64_t> shape = graph::staticShapeOf(argument);
    FailureOr<Value> buffer = sharedArgument(i, global, split);
    if (failed(buffer))
      return failure();
    if (graph::receivedWhen(step_, i)) {
      buffer = program_.addBuffer(name, role, graph::elementTypeOf(argument), shape);
    } else if (!*buffer) {
      int64_t tensor = program_.addTensor(name, role, global, split,
                                          step_.getArgAttrOfType<StringAttr>(i, "graph.parameter"),
                                          step_.getArgAttr(i, "graph.source"), factsOf(step_, i));
      buffer = program_.addBuffer(name, role, graph::elementTypeOf(argument), shape, tensor);
    }
    if (const Space space = graph::spaceOf(step_.getArgAttr(i, graph::kAway));
        isPersistent(role) && space != Space::Device)
      buffer->getDefiningOp<program::BufferOp>().setSpace(space);
    persistent_.insert(*buffer);
    setView(argument, View::dense(*buffer, shape));
  }
  return success();
}

// Loads each input of a micro-batch when the forward part of the first chunk that reads it begins.
void StepLowering::addLoads() {
  for (auto [i, argument] : llvm::enumerate(step_.getArguments())) {
    if (!graph::isFed(step_, i) || argument.use_empty())
      continue;
    graph::StagePart first = segments_.rbegin()->first;
    for (Operation *user : argument.getUsers())
      first = std::min(first, parts_.lookup(user));
    program_.setSegment(segments_.at({graph::StagePart::Kind::Forward, first.chunk}));
    program_.add<program::LoadInputOp>(views_[argument].buffer, /*early=*/false);
  }
}

// Where a GPU takes one micro-batch per step, each input keeps its memory throughout the step, so
// that the next one can be loaded as soon as it is read. The exception are inputs that the update
// reads, such as one that is a result of the step or replaces a state.
void StepLowering::chooseEarlyLoads() {
  if (!isForGpus_ || microBatches_ != 1 || program_.program().getKind() != program::Kind::Step)
    return;
  for (auto &[part, segment] : segments_)
    for (auto load : segment.getBody().front().getOps<program::LoadInputOp>())
      load.setEarly(llvm::all_of(load.getBuffer().getUsers(), [&](Operation *user) {
        return user->getParentOp() == segment.getOperation();
      }));
}

// The segment that replaces the argument of result i. With several micro-batches, the next one
// reads the new value; with one, the update may still read the old value.
program::SegmentOp StepLowering::replacingSegment(unsigned i) const {
  if (microBatches_ == 1 || !graph::isReplacedPerMicroBatch(step_, i, repeated_))
    return update_;
  Operation *producer = order_.back()->getOperand(i).getDefiningOp();
  return producer ? segmentOf(producer) : segments_.begin()->second;
}

void StepLowering::addResults() {
  Operation *terminator = order_.back();
  // Per-micro-batch results go first, so that a constant shared by two results is filled in time.
  SmallVector<unsigned> replacing;
  for (unsigned i = 0; i < terminator->getNumOperands(); ++i)
    if (graph::aliasOf(step_, i))
      replacing.push_back(i);
  std::stable_partition(replacing.begin(), replacing.end(),
                        [&](unsigned i) { return replacingSegment(i) != update_; });
  // Saves values that lie in arguments, unless they are in place, before any is overwritten.
  llvm::DenseMap<unsigned, View> saved;
  for (unsigned i : replacing) {
    program_.setSegment(replacingSegment(i));
    Value value = terminator->getOperand(i), home = step_.getArgument(*graph::aliasOf(step_, i));
    if (View view = viewOf(value);
        persistent_.contains(view.buffer) && !view.isSamePlace(views_[home]))
      moveIn(value, saved[i] = copyToDense(view));
  }
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    if (graph::sentWhen(step_, i))
      continue;
    Operation *producer = value.getDefiningOp();
    program_.setResult(static_cast<int>(i));
    program_.setSegment(producer ? segmentOf(producer) : update_);
    StringRef name = graph::resultName(step_, i);
    if (std::optional<unsigned> alias = graph::aliasOf(step_, i)) {
      program_.setSegment(replacingSegment(i));
      View home = views_[step_.getArgument(*alias)];
      View from = saved.contains(i) ? saved[i] : viewOf(value);
      if (!from.isSamePlace(home))
        program_.copy(from, home);
    } else if (graph::resultRole(step_, i) == Role::Output) {
      std::vector<int64_t> shape = graph::staticShapeOf(value);
      Type global = globalType(step_.getResultAttr(i, mesh::kGlobal), value.getType());
      int64_t tensor =
          program_.addTensor(name, program::Role::Output, global,
                             splitOf(step_.getResultAttr(i, mesh::kSharding), mesh_, global),
                             StringAttr(), Attribute());
      View out = View::dense(program_.addBuffer(name, program::Role::Output,
                                                graph::elementTypeOf(value), shape, tensor),
                             shape);
      moveIn(value, out);
      program_.copy(viewOf(value), out);
      program_.add<program::StoreOutputOp>(out.buffer);
    } else {
      View whole = wholeViewOf(value);
      moveIn(value, whole);
      program_.add<program::MetricOp>(program_.builder().getStringAttr(name), whole.buffer);
    }
  }
}

} // namespace cleave::bufferize
