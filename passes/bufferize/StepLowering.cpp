// Lowers ops to instructions: kernels, matmuls, convolutions. Layout ops are in Layout.cpp,
// attention is in Attention.cpp, grouped products are in GroupedMatmul.cpp.
#include "passes/bufferize/StepLowering.h"

#include "dialects/graph/Direct.h"
#include "dialects/graph/Step.h"
#include "passes/bufferize/ColumnParts.h"
#include "passes/bufferize/InPlace.h"
#include "passes/bufferize/MatmulForm.h"
#include "passes/bufferize/Workspace.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace cleave::bufferize {

StepLowering::StepLowering(func::FuncOp step, ProgramBuilder &program)
    : step_(step), program_(program), isForGpus_(program::isForGpus(step)) {
  if (isForGpus_)
    channelsLast_ = analysis::ChannelsLast(step);
  if (mesh::MeshAttr mesh = mesh::meshOf(step))
    mesh_ = mesh::toMesh(mesh);
}

LogicalResult StepLowering::run() {
  if (failed(readOrder()))
    return failure();
  planUses();
  addSegments();
  if (failed(addArguments()))
    return failure();
  const bool isSplit = llvm::any_of(
      mesh_.axes, [](const MeshAxis &axis) { return axis.size > 1 && axis.name != mesh::kStages; });
  if (isSplit)
    coordinates();
  planDestinations();
  addLoads();
  for (Operation *op : order_) {
    if (op == order_.back())
      break;
    if (isStage_ && parts_.lookup(op).kind == graph::StagePart::Kind::Update)
      exchange();
    program_.setSegment(segmentOf(op));
    program_.setSource(op);
    fillPadding(op);
    if (failed(lower(op)))
      return failure();
  }
  program_.setSource(nullptr);
  if (isStage_)
    addMessages();
  addResults();
  chooseEarlyLoads();
  setSchedule();
  markAway();
  return success();
}

// Marks the buffers of values that are kept elsewhere.
void StepLowering::markAway() {
  for (Operation *op : order_)
    if (const Space space = graph::spaceOf(op->getAttr(graph::kAway)); space != Space::Device)
      for (Value result : op->getResults()) {
        auto at = views_.find(result);
        auto buffer = at == views_.end() ? program::BufferOp()
                                         : at->second.buffer.getDefiningOp<program::BufferOp>();
        if (buffer && buffer.getRole() == program::Role::Activation)
          buffer->setAttr(program::kAway, program::SpaceAttr::get(op->getContext(), space));
      }
}

void StepLowering::addSegments() {
  begin_ = microBatches_ > 1 ? program_.addSegment("begin") : program::SegmentOp();
  if (isStage_) {
    addMicroSegments();
  } else {
    segments_[graph::StagePart()] = program_.addSegment("micro");
  }
  bool anyUpdate =
      llvm::any_of(order_, [&](Operation *op) { return isUpdate(op) && op != order_.back(); });
  update_ = anyUpdate || isStage_ ? program_.addSegment("update") : segments_.begin()->second;
}

program::SegmentOp StepLowering::segmentOf(Operation *op) const {
  const graph::StagePart part = parts_.lookup(op);
  return part.isPerMicroBatch() ? segments_.at(part) : update_;
}

void StepLowering::setSchedule() {
  SmallVector<int64_t> schedule;
  SmallVector<program::SegmentOp> segments(
      program_.program().getBody().front().getOps<program::SegmentOp>());
  auto numberOf = [&](program::SegmentOp segment) {
    return static_cast<int64_t>(llvm::find(segments, segment) - segments.begin());
  };
  const bool isJoined = update_ == segments_.begin()->second; // nothing runs once per step
  if (begin_)
    schedule.append({numberOf(begin_), 0});
  for (int64_t slot = 0; slot < microBatches_; ++slot)
    for (program::SegmentOp segment : segments)
      if (segment != begin_ && (segment != update_ || isJoined))
        schedule.append({numberOf(segment), slot});
  if (!isJoined)
    schedule.append({numberOf(update_), 0});
  program_.program().setSchedule(schedule);
}

// -- views ----------------------------------------------------------------------------------------

void StepLowering::setView(Value value, View view) {
  auto [it, isNew] = bufferLastUse_.try_emplace(view.buffer, lastUse_.lookup(value));
  it->second = std::max(it->second, lastUse_.lookup(value));
  moveIn(value, view);
  views_[value] = std::move(view);
}

void StepLowering::moveIn(Value value, const View &view) {
  if (!hasAll(view))
    return;
  Operation *op = value.getDefiningOp();
  SmallVector<Value, 1> &tenants = tenants_[view.buffer];
  if (tenants.empty() || (op && !isAliasing(op) && !persistent_.contains(view.buffer)))
    tenants.push_back(value);
}

SmallVector<int64_t> StepLowering::chosenOrder(Value value) const {
  return channelsLast_.contains(value) ? analysis::channelsLastOrder(graph::rankOf(value))
                                       : SmallVector<int64_t>();
}

View StepLowering::newBuffer(Value value, StringRef suffix) {
  if (SmallVector<int64_t> order = chosenOrder(value); !order.empty())
    return newBufferIn(value, order);
  std::string name =
      value.getDefiningOp() ? value.getDefiningOp()->getName().stripDialect().str() : "value";
  std::vector<int64_t> shape = graph::staticShapeOf(value);
  if (!hasPitch(value))
    return View::dense(program_.addBuffer(name + suffix.str(), program::Role::Activation,
                                          graph::elementTypeOf(value), shape),
                       shape);
  std::vector<int64_t> stored = shape;
  stored.back() = cost::rowPitch(shape.back());
  Value buffer = program_.addBuffer(name + suffix.str(), program::Role::Activation,
                                    graph::elementTypeOf(value), stored);
  pitched_.insert(buffer);
  return View::dense(buffer, stored).sliced(graph::rankOf(value) - 1, 0, 1, shape.back());
}

// A factor of a product: the number of dims that are neither batch nor contracting, and whether the
// product keeps the last dim apart, since no other dim is of its kind.
struct FactorDims {
  int64_t free;
  bool isLastAlone;
};
static FactorDims dimsOf(Value factor, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracting) {
  const int64_t rank = graph::rankOf(factor), last = rank - 1,
                free = rank - static_cast<int64_t>(batch.size() + contracting.size());
  const bool isContracting = is_contained(contracting, last), isBatch = is_contained(batch, last);
  return {free, isContracting ? contracting.size() == 1 : !isBatch && free == 1};
}

// Whether the op accepts a value whose rows have a pitch, as an operand or as its result.
static bool acceptsPitch(Operation *op, Value value) {
  auto dot = dyn_cast<graph::DotGeneralOp>(op);
  if (!dot)
    return isa<graph::FusionOp>(op);
  const FactorDims lhs = dimsOf(dot.getLhs(), dot.getLhsBatch(), dot.getLhsContracting()),
                   rhs = dimsOf(dot.getRhs(), dot.getRhsBatch(), dot.getRhsContracting());
  if (value == dot.getResult()) // its last dims are the columns, if there are any
    return (rhs.free > 0 ? rhs.free : lhs.free) == 1;
  return (value != dot.getLhs() || lhs.isLastAlone) && (value != dot.getRhs() || rhs.isLastAlone);
}

bool StepLowering::hasPitch(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!isForGpus_ || !op || graph::rankOf(value) < 2 ||
      graph::elementTypeOf(value).getIntOrFloatBitWidth() != 16)
    return false;
  const int64_t row = graph::staticShapeOf(value).back();
  SmallVector<Operation *> ops = {op};
  llvm::append_range(ops, value.getUsers());
  return cost::rowPitch(row) != row &&
         llvm::all_of(ops, [&](Operation *each) { return acceptsPitch(each, value); }) &&
         llvm::any_of(ops, [](Operation *each) { return isa<graph::DotGeneralOp>(each); });
}

View StepLowering::newBufferLike(Value value, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, graph::rankOf(value)));
  llvm::stable_sort(order, [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  return newBufferIn(value, order);
}

View StepLowering::newBufferIn(Value value, ArrayRef<int64_t> order) {
  std::vector<int64_t> shape = graph::staticShapeOf(value);
  SmallVector<int64_t> stored = applyPermutation(ArrayRef<int64_t>(shape), order);
  std::string name = value.getDefiningOp()->getName().stripDialect().str();
  Value buffer =
      program_.addBuffer(name, program::Role::Activation, graph::elementTypeOf(value), stored);
  return View::dense(buffer, stored).transposed(invertPermutationVector(order));
}

View StepLowering::newGroupResult(graph::FusionOp fusion, unsigned result,
                                  ArrayRef<View> operands) {
  Value value = fusion.getResult(result);
  if (channelsLast_.contains(value) || !llvm::all_of(value.getUsers(), [](Operation *user) {
        return isa<graph::DotGeneralOp>(user);
      }))
    return newBuffer(value);
  for (auto [i, operand] : llvm::enumerate(operands))
    if (readsElementwise(fusion, i, result))
      return llvm::is_sorted(operand.strides, std::greater<>())
                 ? newBuffer(value)
                 : newBufferLike(value, operand.strides);
  return newBuffer(value);
}

View StepLowering::viewOf(Value value) {
  if (auto it = views_.find(value); it != views_.end())
    return it->second;
  std::optional<double> splat = graph::splatValue(value);
  assert(splat && "a value has no view yet");
  View view = newBuffer(value);
  program_.fill(view.buffer, *splat);
  setView(value, view);
  return view;
}

bool StepLowering::isWhole(const View &view, ArrayRef<int64_t> order) {
  return view.offset == 0 && (order.empty() ? view : view.transposed(order)).isDense() &&
         view.size() == ProgramBuilder::elementsOf(view.buffer);
}

bool StepLowering::hasAll(const View &view) const {
  return pitched_.contains(view.buffer) || view.size() == ProgramBuilder::elementsOf(view.buffer);
}

cost::Strided StepLowering::orderOf(const View &view) const {
  return pitched_.contains(view.buffer) ? View::dense(view.buffer, view.shape).strided()
                                        : view.strided();
}

View StepLowering::copyToDense(const View &view, ArrayRef<int64_t> order) {
  if (!order.empty())
    return copyToDense(view.transposed(order)).transposed(invertPermutationVector(order));
  View dense = View::dense(program_.addBuffer("dense", program::Role::Workspace,
                                              ProgramBuilder::elementOf(view.buffer), view.shape),
                           view.shape);
  program_.copy(view, dense);
  return dense;
}

View StepLowering::copyGrouped(const View &view, ArrayRef<int64_t> batch,
                               ArrayRef<int64_t> contracting) {
  SmallVector<int64_t> order(batch);
  for (int64_t dim = 0; dim < static_cast<int64_t>(view.shape.size()); ++dim)
    if (!is_contained(batch, dim) && !is_contained(contracting, dim))
      order.push_back(dim);
  append_range(order, contracting);
  return copyToDense(view.transposed(order)).transposed(invertPermutationVector(order));
}

View StepLowering::wholeViewOf(Value value, ArrayRef<int64_t> order) {
  View view = viewOf(value);
  return isWhole(view, order) ? view : copyToDense(view, order);
}

View StepLowering::resultView(Value result) {
  auto it = destinations_.find(result);
  return it == destinations_.end() ? newBuffer(result) : it->second;
}

View StepLowering::wholeResult(Value result, ArrayRef<int64_t> order) {
  auto it = destinations_.find(result);
  if (it != destinations_.end() && isWhole(it->second, order))
    return it->second;
  if (chosenOrder(result) == order)
    return newBuffer(result);
  return order.empty() ? newBufferIn(result, llvm::to_vector(llvm::seq(graph::rankOf(result))))
                       : newBufferIn(result, order);
}

void StepLowering::finishWhole(Value result, const View &made) {
  auto it = destinations_.find(result);
  const SmallVector<int64_t> order = chosenOrder(result);
  if (it == destinations_.end())
    return setView(result, isWhole(made, order) ? made : copyToDense(made, order));
  if (it->second == made)
    return setView(result, made);
  program_.copy(made, it->second);
  setView(result, it->second);
}

bool StepLowering::diesAt(const View &view, Operation *op) const {
  return !persistent_.contains(view.buffer) &&
         bufferLastUse_.lookup(view.buffer) <= position_.lookup(op);
}

// -- computation ----------------------------------------------------------------------------------

void StepLowering::lowerFusion(graph::FusionOp op) {
  if (views_.contains(op.getResult(0))) // a product has computed it
    return;
  SmallVector<View> operands, results;
  for (Value operand : op.getOperands())
    operands.push_back(viewOf(operand));
  llvm::DenseSet<Value> taken;
  for (Value result : op.getResults()) {
    if (destinations_.contains(result)) {
      results.push_back(destinations_[result]);
      continue;
    }
    std::optional<View> inPlace;
    for (auto [i, operand] : llvm::enumerate(operands)) {
      Value buffer = operand.buffer;
      bool isOnlyReader =
          llvm::count_if(operands, [&](const View &v) { return v.buffer == buffer; }) == 1;
      if (!inPlace && isOnlyReader && !taken.contains(buffer) && diesAt(operand, op) &&
          ProgramBuilder::elementOf(buffer) == graph::elementTypeOf(result) &&
          readsElementwise(op, i, cast<OpResult>(result).getResultNumber()) &&
          (isWhole(operand, chosenOrder(result)) || pitched_.contains(buffer)))
        inPlace = operand;
    }
    results.push_back(inPlace
                          ? *inPlace
                          : newGroupResult(op, cast<OpResult>(result).getResultNumber(), operands));
    taken.insert(results.back().buffer);
  }
  if (!isForGpus_ || !launchInParts(op, operands, results))
    program_.launch(op, operands, results);
  for (auto [result, view] : llvm::zip(op.getResults(), results))
    setView(result, view);
}

// Null where the group replaces a parameter or state, which other ops may read until the group
// runs, and where the product has a destination, whose order in memory may differ.
std::optional<ProductBias> StepLowering::biasOf(graph::DotGeneralOp op) {
  std::optional<ProductBias> added = isForGpus_ ? productBias(op) : std::nullopt;
  if (!added || !views_.contains(added->bias) || destinations_.contains(op.getResult()))
    return std::nullopt;
  auto destination = destinations_.find(added->sum);
  const bool isReplacement =
      destination != destinations_.end() && persistent_.contains(destination->second.buffer);
  return isReplacement ? std::nullopt : added;
}

Value StepLowering::wholeBufferOf(Value value, Type element) {
  const View from = viewOf(value);
  if (ProgramBuilder::elementOf(from.buffer) == element)
    return wholeViewOf(value).buffer;
  const View to = View::dense(
      program_.addBuffer("dense", program::Role::Workspace, element, from.shape), from.shape);
  program_.copy(from, to);
  return to.buffer;
}

bool StepLowering::launchInParts(graph::FusionOp op, ArrayRef<View> operands,
                                 ArrayRef<View> results) {
  Block &body = op.getBody().front();
  OperandRange yielded = body.getTerminator()->getOperands();
  auto split = [&](const ColumnParts &parts, Value value, const View &view) {
    return view.reshaped(shapeInParts(op, parts, value));
  };
  const std::optional<ColumnParts> parts = columnPartsOf(op, [&](const ColumnParts &tried) {
    auto fits = [&](auto pair) {
      return split(tried, std::get<0>(pair), std::get<1>(pair)).has_value();
    };
    return llvm::all_of(llvm::zip(body.getArguments(), operands), fits) &&
           llvm::all_of(llvm::zip(yielded, results), fits);
  });
  if (!parts)
    return false;
  PartialSums sums = inParts(op, *parts);
  SmallVector<View> from, to;
  for (auto [argument, view] : llvm::zip(body.getArguments(), operands))
    from.push_back(*split(*parts, argument, view));
  for (auto [i, value] : llvm::enumerate(yielded)) {
    Value result = sums.first.getResult(i);
    const std::vector<int64_t> shape = graph::staticShapeOf(result);
    to.push_back(sums.second[i]
                     ? View::dense(program_.addBuffer("parts", program::Role::Workspace,
                                                      graph::elementTypeOf(result), shape),
                                   shape)
                     : *split(*parts, value, results[i]));
  }
  program_.launch(sums.first, from, to);
  for (auto [i, second] : llvm::enumerate(sums.second))
    if (second) {
      program_.launch(second, to[i], results[i]);
      second.erase();
    }
  SmallVector<Value> read(sums.first.getOperands());
  sums.first.erase();
  for (auto [before, after] : llvm::zip(op.getOperands(), read))
    if (before != after)
      after.getDefiningOp()->erase();
  return true;
}

void StepLowering::lowerDot(graph::DotGeneralOp op) {
  const std::optional<ProductBias> added = biasOf(op);
  Value result = added ? added->sum : op.getResult();
  View lhs = viewOf(op.getLhs()), rhs = viewOf(op.getRhs());
  auto copiesTo = [&](const View &out) {
    return cost::productCopies(productDims(op), lhs.strided(), rhs.strided(), out.strided());
  };
  graph::AccumulateOp sum = sumOf(op);
  if (sum && copiesTo(View::dense({}, graph::staticShapeOf(result))).out)
    sum = {};
  if (sum)
    sums_[sum] = newSum(sum);
  const View out = sum ? sums_[sum] : resultView(result);
  const cost::ProductCopies copies = copiesTo(out);
  strided_[op] = {orderOf(lhs), orderOf(rhs), orderOf(out)};
  if (copies.lhs)
    lhs = copyToDense(lhs);
  if (copies.rhs)
    rhs = copyToDense(rhs);
  View target = copies.out ? newBuffer(result, ".dense") : out;
  if (copies.grouped) {
    lhs = copyGrouped(lhs, op.getLhsBatch(), op.getLhsContracting());
    rhs = copyGrouped(rhs, op.getRhsBatch(), op.getRhsContracting());
  }
  std::optional<MatmulForm> form = matmulForm(op, lhs, rhs, target);
  assert(form && "operands whose contracting dims come last, in one order, have a form");
  // The columns of the form must be those of the op, and lie side by side.
  Value bias;
  if (added && !form->isSwapped && form->n == viewOf(added->bias).size() &&
      form->out.strides.back() == 1)
    bias = wholeBufferOf(added->bias, graph::elementTypeOf(result));
  auto number = [&](int64_t value) { return program_.builder().getI64IntegerAttr(value); };
  Value workspace = newWorkspace(productWorkspace(target.size()));
  program_.add<program::MatmulOp>(
      form->lhs.buffer, form->rhs.buffer, form->out.buffer, bias, workspace,
      program_.builder().getDenseI64ArrayAttr(form->batch), number(form->m), number(form->n),
      number(form->k), form->lhs.attribute(0), form->rhs.attribute(1), form->out.attribute(2),
      sum ? program_.builder().getUnitAttr() : UnitAttr(), tf32For(lhs));
  if (!(target == out))
    program_.copy(target, out);
  if (sum)
    views_[op.getResult()] = out; // the buffer holds the sum
  else
    setView(op.getResult(), out);
  if (bias)
    setView(result, out);
}

template <typename Op>
static void addConvolution(ProgramBuilder &program, Op op, program::ConvolutionKind kind,
                           const View &input, const View &weight, const View &output,
                           Value workspace, bool isChannelsLast, UnitAttr tf32) {
  OpBuilder &b = program.builder();
  auto list = [&](ArrayRef<int64_t> values) { return b.getDenseI64ArrayAttr(values); };
  program.add<program::ConvolutionOp>(
      program::ConvolutionKindAttr::get(b.getContext(), kind), input.buffer, weight.buffer,
      output.buffer, workspace, list(input.shape), list(weight.shape), list(output.shape),
      list(op.getStrides()), list(op.getDilations()), list(op.getPadsLow()), list(op.getPadsHigh()),
      op.getGroupsAttr(), isChannelsLast ? b.getUnitAttr() : UnitAttr(), tf32);
}

static int64_t groupsOf(Operation *convolution) {
  return convolution->getAttrOfType<IntegerAttr>("groups").getInt();
}

LogicalResult StepLowering::lowerConvolution(Operation *op) {
  const bool isLast = isForGpus_ && analysis::isChannelsLastConvolution(op);
  const SmallVector<int64_t> order =
      isLast ? analysis::channelsLastOrder(graph::rankOf(op->getOperand(0)))
             : SmallVector<int64_t>();
  View first = wholeViewOf(op->getOperand(0), order),
       second = wholeViewOf(op->getOperand(1), order);
  View result = wholeResult(op->getResult(0), order);
  const int64_t elementBytes = ProgramBuilder::elementOf(first.buffer).getIntOrFloatBitWidth() / 8;
  Value workspace = newWorkspace(convolutionWorkspace({first.shape, second.shape, result.shape},
                                                      elementBytes, isLast, groupsOf(op)));
  UnitAttr tf32 = tf32For(first);
  using Kind = program::ConvolutionKind;
  if (auto conv = dyn_cast<graph::ConvOp>(op))
    addConvolution(program_, conv, Kind::Forward, first, second, result, workspace, isLast, tf32);
  else if (auto grad = dyn_cast<graph::ConvInputGradOp>(op))
    addConvolution(program_, grad, Kind::InputGradient, result, second, first, workspace, isLast,
                   tf32);
  else
    addConvolution(program_, cast<graph::ConvWeightGradOp>(op), Kind::WeightGradient, second,
                   result, first, workspace, isLast, tf32);
  finishWhole(op->getResult(0), result);
  return success();
}

UnitAttr StepLowering::tf32For(const View &factor) {
  const bool isF32 = ProgramBuilder::elementOf(factor.buffer).isF32();
  return isForGpus_ && isF32 && graph::f32Products(step_) == "tf32"
             ? program_.builder().getUnitAttr()
             : UnitAttr();
}

Value StepLowering::newWorkspace(int64_t bytes) {
  if (!isForGpus_ || bytes == 0)
    return {};
  return program_.addBuffer("workspace", program::Role::Workspace, program_.builder().getI8Type(),
                            {bytes});
}

// Launches a kernel of its own on whole tensors in one order.
void StepLowering::lowerDenseKernel(Operation *op) {
  SmallVector<int64_t> order;
  if (analysis::takesChannelsLast(op))
    order = chosenOrder(op->getResult(0));
  SmallVector<View> operands;
  for (Value operand : op->getOperands())
    operands.push_back(wholeViewOf(operand, order));
  SmallVector<View> results;
  for (Value result : op->getResults())
    results.push_back(wholeResult(result, order));
  program_.launch(op, operands, results);
  for (auto [result, view] : llvm::zip(op->getResults(), results))
    finishWhole(result, view);
}

LogicalResult StepLowering::lower(Operation *op) {
  if (op->use_empty() || graph::splatValue(op->getResult(0)))
    return success();
  if (op->hasTrait<graph::LayoutOnly>())
    return lowerLayout(op), success();
  if (op->hasTrait<graph::OwnKernel>() || graph::isDirect(op))
    return lowerDenseKernel(op), success();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](graph::ConcatOp o) { return lowerConcat(o), success(); })
      .Case([&](graph::PadOp o) { return lowerPad(o), success(); })
      .Case([&](graph::ConstantOp o) { return lowerConstant(o), success(); })
      .Case([&](graph::AccumulateOp o) { return lowerAccumulate(o), success(); })
      .Case([&](graph::FusionOp o) { return lowerFusion(o), success(); })
      .Case([&](graph::DotGeneralOp o) { return lowerDot(o), success(); })
      .Case<graph::ConvOp, graph::ConvInputGradOp, graph::ConvWeightGradOp>(
          [&](Operation *o) { return lowerConvolution(o); })
      .Case([&](graph::GroupedMatmulOp o) { return lowerGroupedMatmul(o), success(); })
      .Case([&](graph::GroupedWeightGradOp o) { return lowerGroupedWeightGrad(o), success(); })
      .Case([&](graph::AttentionOp o) { return lowerAttention(o), success(); })
      .Case([&](graph::AttentionGradOp o) { return lowerAttentionGrad(o), success(); })
      .Case([&](mesh::AllReduceOp o) { return lowerAllReduce(o), success(); })
      .Case([&](mesh::AllGatherOp o) { return lowerAllGather(o), success(); })
      .Case([&](mesh::ReduceScatterOp o) { return lowerReduceScatter(o), success(); })
      .Case([&](mesh::AllToAllOp o) { return lowerAllToAll(o), success(); })
      .Case([&](mesh::PermuteOp o) { return lowerPermute(o), success(); })
      .Case<mesh::SliceOp, mesh::BlockOffsetOp>(
          [&](Operation *o) { return lowerLocal(o), success(); })
      .Default([&](Operation *o) {
        auto diag = o->emitOpError("cannot be executed: it has neither an instruction nor a kernel "
                                   "of its own, expected it inside a kernel group");
        diag.attachNote((*o->user_begin())->getLoc()) << "its result is read here";
        return diag;
      });
}

} // namespace cleave::bufferize
