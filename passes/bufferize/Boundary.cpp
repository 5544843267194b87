// Reads the attributes of arguments and results; the order in which results leave.
#include "passes/bufferize/Boundary.h"

#include "compiler/analysis/Vocabulary.h"
#include "dialects/graph/Away.h"
#include "dialects/graph/FedArguments.h"
#include "dialects/graph/Step.h"

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

FailureOr<Value> StepBoundary::sharedArgument(unsigned i, Type global, ArrayAttr split) {
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

LogicalResult StepBoundary::addArguments() {
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
    views_.setNeverFree(*buffer);
    views_.set(argument, View::dense(*buffer, shape));
  }
  return success();
}

void StepBoundary::addLoads() {
  for (auto [i, argument] : llvm::enumerate(step_.getArguments())) {
    if (!graph::isFed(step_, i) || argument.use_empty())
      continue;
    graph::StagePart first = segments_.ofParts().rbegin()->first;
    for (Operation *user : argument.getUsers())
      first = std::min(first, order_.partOf(user));
    program_.setSegment(segments_.ofParts().at({graph::StagePart::Kind::Forward, first.chunk}));
    program_.add<program::LoadInputOp>(views_.of(argument).buffer, /*early=*/false);
  }
}

// Where a GPU takes one micro-batch per step, each input keeps its memory throughout the step, so
// that the next one can be loaded as soon as it is read. The exception are inputs that the update
// reads, such as one that is a result of the step or replaces a state.
void StepBoundary::chooseEarlyLoads() {
  if (!program::isForGpus(step_) || order_.microBatches() != 1 ||
      program_.program().getKind() != program::Kind::Step)
    return;
  for (auto [part, segment] : segments_.ofParts())
    for (auto load : segment.getBody().front().getOps<program::LoadInputOp>())
      load.setEarly(llvm::all_of(load.getBuffer().getUsers(), [&](Operation *user) {
        return user->getParentOp() == segment.getOperation();
      }));
}

// The segment that replaces the argument of result i. With several micro-batches, the next one
// reads the new value; with one, the update may still read the old value.
program::SegmentOp StepBoundary::replacingSegment(unsigned i) const {
  if (order_.microBatches() == 1 || !order_.isReplacedPerMicroBatch(i))
    return segments_.update();
  Operation *producer = order_.terminator()->getOperand(i).getDefiningOp();
  return producer ? segments_.of(producer) : segments_.first();
}

void StepBoundary::addOutput(unsigned i, Value value) {
  StringRef name = graph::resultName(step_, i);
  std::vector<int64_t> shape = graph::staticShapeOf(value);
  Type global = globalType(step_.getResultAttr(i, mesh::kGlobal), value.getType());
  int64_t tensor = program_.addTensor(
      name, program::Role::Output, global,
      splitOf(step_.getResultAttr(i, mesh::kSharding), mesh_, global), StringAttr(), Attribute());
  View out = View::dense(
      program_.addBuffer(name, program::Role::Output, graph::elementTypeOf(value), shape, tensor),
      shape);
  views_.moveIn(value, out);
  program_.copy(views_.of(value), out);
  program_.add<program::StoreOutputOp>(out.buffer);
}

void StepBoundary::addResults() {
  Operation *terminator = order_.terminator();
  // Per-micro-batch results go first, so that a constant shared by two results is filled in time.
  SmallVector<unsigned> replacing;
  for (unsigned i = 0; i < terminator->getNumOperands(); ++i)
    if (graph::aliasOf(step_, i))
      replacing.push_back(i);
  std::stable_partition(replacing.begin(), replacing.end(),
                        [&](unsigned i) { return replacingSegment(i) != segments_.update(); });
  // Saves values that lie in arguments, unless they are in place, before any is overwritten.
  llvm::DenseMap<unsigned, View> saved;
  for (unsigned i : replacing) {
    program_.setSegment(replacingSegment(i));
    Value value = terminator->getOperand(i), home = step_.getArgument(*graph::aliasOf(step_, i));
    if (View view = views_.of(value);
        views_.isNeverFree(view.buffer) && !view.isSamePlace(views_.of(home)))
      views_.moveIn(value, saved[i] = copyToDense(program_, view));
  }
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    if (graph::sentWhen(step_, i))
      continue;
    Operation *producer = value.getDefiningOp();
    program_.setResult(static_cast<int>(i));
    program_.setSegment(producer ? segments_.of(producer) : segments_.update());
    if (std::optional<unsigned> alias = graph::aliasOf(step_, i)) {
      program_.setSegment(replacingSegment(i));
      View home = views_.of(step_.getArgument(*alias));
      View from = saved.contains(i) ? saved[i] : views_.of(value);
      if (!from.isSamePlace(home))
        program_.copy(from, home);
    } else if (graph::resultRole(step_, i) == Role::Output) {
      addOutput(i, value);
    } else {
      View whole = views_.wholeOf(value);
      views_.moveIn(value, whole);
      program_.add<program::MetricOp>(program_.builder().getStringAttr(graph::resultName(step_, i)),
                                      whole.buffer);
    }
  }
}

} // namespace cleave::bufferize
