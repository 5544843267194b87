// Registration and verifiers of the program dialect.
#include "dialects/program/Program.h"

#include "runtime/base/Alignment.h"
#include "runtime/base/AttentionScratch.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/program/ProgramDialect.cpp.inc"
#include "dialects/program/ProgramEnums.cpp.inc"

namespace cleave::program {

// The name of one of the values, which are those that IR may have.
template <typename Value>
static FailureOr<Value> parseName(AsmParser &parser, ArrayRef<Value> values) {
  const SMLoc place = parser.getCurrentLocation();
  StringRef word;
  if (failed(parser.parseKeyword(&word)))
    return failure();
  for (Value value : values)
    if (StringRef(cleave::name(value)) == word)
      return value;
  InFlightDiagnostic error = parser.emitError(place) << "found '" << word << "', expected one of ";
  llvm::interleaveComma(values, error,
                        [&](Value value) { error << StringRef(cleave::name(value)); });
  return error;
}

// An instruction has no peer, so no message between two ranks.
static FailureOr<CollectiveKind> parseCollectiveKind(AsmParser &parser) {
  SmallVector<CollectiveKind> kinds;
  for (const CollectiveFacts &facts : kCollectives)
    if (!isPointToPoint(facts.kind))
      kinds.push_back(facts.kind);
  return parseName<CollectiveKind>(parser, kinds);
}

// Buffers and tensors of programs have the roles that plans have.
static FailureOr<Role> parseRole(AsmParser &parser) {
  SmallVector<Role> roles;
  for (const RoleFacts &facts : kRoles)
    if (storedAs(facts.role) == facts.role)
      roles.push_back(facts.role);
  return parseName<Role>(parser, roles);
}

static FailureOr<Space> parseSpace(AsmParser &parser) { return parseName<Space>(parser, kSpaces); }

} // namespace cleave::program

#define GET_TYPEDEF_CLASSES
#include "dialects/program/ProgramTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/program/ProgramAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/program/ProgramOps.cpp.inc"

namespace cleave::program {

void ProgramDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/program/ProgramTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/program/ProgramAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/program/ProgramOps.cpp.inc"
      >();
}

bool isForGpus(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  auto device = module ? module->getAttrOfType<StringAttr>(kDevice) : StringAttr();
  return device && device.getValue() == "cuda";
}

bool isHostTransfer(Operation *instruction) {
  auto spaceOf = [](Value buffer) { return buffer.getDefiningOp<BufferOp>().getSpace(); };
  if (auto copy = dyn_cast<CopyOp>(instruction))
    return spaceOf(copy.getFrom()) != spaceOf(copy.getTo());
  return instruction->hasTrait<HostTransfer>();
}

int64_t bufferAlignmentOf(Operation *op, Space space) {
  return space == Space::File ? kFileAlignment : bufferAlignment(isForGpus(op));
}

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addEffect(OpOperand &buffer, bool isWritten, Effects &effects) {
  isWritten ? effects.emplace_back(MemoryEffects::Write::get(), &buffer)
            : effects.emplace_back(MemoryEffects::Read::get(), &buffer);
}

void LaunchOp::getEffects(Effects &effects) {
  for (auto [i, buffer] : llvm::enumerate(getBuffersMutable()))
    addEffect(buffer, llvm::is_contained(getWritten(), static_cast<int64_t>(i)), effects);
}

void ConvolutionOp::getEffects(Effects &effects) {
  Value result = getKind() == ConvolutionKind::Forward         ? getOutput()
                 : getKind() == ConvolutionKind::InputGradient ? getInput()
                                                               : getWeight();
  for (OpOperand &buffer : getOperation()->getOpOperands())
    addEffect(buffer, buffer.get() == result || buffer.get() == getWorkspace(), effects);
}

void GroupedMatmulOp::getEffects(Effects &effects) {
  Value result = getWeightGradient() ? getWeight() : getOutput();
  for (OpOperand &buffer : getOperation()->getOpOperands())
    addEffect(buffer, buffer.get() == result, effects);
}

void AttentionOp::getEffects(Effects &effects) {
  const bool isGradient = static_cast<bool>(getGrad());
  SmallVector<Value> written = {getScratch(), getWorkspace()};
  if (isGradient)
    written.append({getQueryGrad(), getKeyGrad(), getValueGrad()});
  else
    written.append({getResult(), getLse()});
  for (OpOperand &buffer : getOperation()->getOpOperands())
    addEffect(buffer, llvm::is_contained(written, buffer.get()), effects);
}

SmallVector<int64_t> denseStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

ViewAttr denseView(MLIRContext *context, int64_t buffer, ArrayRef<int64_t> shape) {
  return ViewAttr::get(context, buffer, 0, denseStrides(shape));
}

static LogicalResult verifyView(KernelOp kernel, Attribute attribute, Type type, StringRef what,
                                unsigned i) {
  auto view = cast<ViewAttr>(attribute);
  if (view.getBuffer() < 0 || view.getBuffer() >= kernel.instanceBuffers())
    return kernel.emitOpError() << what << " " << i << " lies in buffer " << view.getBuffer()
                                << " of " << kernel.instanceBuffers();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return kernel.emitOpError() << what << " " << i << " is not a tensor of static shape";
  if (tensor.getRank() != static_cast<int64_t>(view.getStrides().size())) {
    auto diag = kernel.emitOpError() << what << " " << i << " has rank " << tensor.getRank()
                                     << " but its view " << view.getStrides().size() << " strides";
    diag.attachNote(kernel.getBody().front().front().getLoc())
        << what << " " << i << " of the computation has type " << tensor;
    return diag;
  }
  return success();
}

LogicalResult KernelOp::verify() {
  Block &body = getBody().front();
  if (!llvm::hasSingleElement(body)) {
    auto diag = emitOpError("must hold exactly one op");
    if (!body.empty())
      diag.attachNote(std::next(body.begin())->getLoc()) << "the second op is here";
    return diag;
  }
  if (instanceCount() < 1 || static_cast<int64_t>(getBuffers()) % instanceCount() != 0)
    return emitOpError() << "has " << getBuffers() << " buffers for " << instanceCount()
                         << " instances";
  Operation &computation = body.front();
  if (getOperands().size() != body.getNumArguments() ||
      getResults().size() != computation.getNumResults()) {
    auto diag = emitOpError("needs one view for every block argument and every result of its op");
    diag.attachNote(computation.getLoc())
        << "the op has " << body.getNumArguments() << " operands and "
        << computation.getNumResults() << " results";
    return diag;
  }
  for (unsigned i = 0; i < body.getNumArguments(); ++i)
    if (failed(verifyView(*this, getOperands()[i], body.getArgument(i).getType(), "operand", i)))
      return failure();
  for (unsigned i = 0; i < computation.getNumResults(); ++i)
    if (failed(verifyView(*this, getResults()[i], computation.getResult(i).getType(), "result", i)))
      return failure();
  return success();
}

ArenaAttr ProgramOp::arenaIn(Space space) {
  return space == Space::Device ? getArenaAttr()
         : space == Space::Host ? getHostAttr()
                                : getFileAttr();
}

void ProgramOp::setArenaIn(Space space, ArenaAttr arena) {
  space == Space::Device ? setArenaAttr(arena)
  : space == Space::Host ? setHostAttr(arena)
                         : setFileAttr(arena);
}

LogicalResult ProgramOp::verify() {
  int64_t segments = 0;
  for (Operation &op : getBody().front())
    segments += isa<SegmentOp>(op);
  ArrayRef<int64_t> schedule = getSchedule();
  if (schedule.size() % 2 != 0)
    return emitOpError("has a schedule that is not a list of pairs (segment, slot)");
  for (size_t i = 0; i < schedule.size(); i += 2)
    if (schedule[i] < 0 || schedule[i] >= segments)
      return emitOpError() << "schedules segment " << schedule[i] << " of " << segments;
  for (auto buffer : getBody().front().getOps<BufferOp>()) {
    const ArenaAttr arena = arenaIn(buffer.getSpace());
    const int64_t bytes = arena ? arena.getBytes() : 0;
    if (getArena() && static_cast<int64_t>(buffer.getOffset() + buffer.getBytes()) > bytes) {
      auto diag = buffer.emitOpError() << "ends beyond the arena of " << bytes << " bytes";
      diag.attachNote(getLoc()) << "the arena is declared here";
      return diag;
    }
  }
  return success();
}

LogicalResult MatmulOp::verify() {
  size_t rank = getBatch().size() + 2;
  ViewAttr views[] = {getLhsView(), getRhsView(), getOutView()};
  for (auto [i, view] : llvm::enumerate(views)) {
    if (view.getStrides().size() != rank)
      return emitOpError() << "has the view " << view << " of " << view.getStrides().size()
                           << " strides, expected " << rank;
    if (view.getBuffer() != static_cast<int64_t>(i))
      return emitOpError() << "has the view " << view << " of buffer " << view.getBuffer()
                           << ", expected buffer " << i;
  }
  if (const int64_t stride = getOutView().getStrides().back();
      getBias() && getN() != 1 && stride != 1)
    return emitOpError() << "has a bias and columns " << stride << " elements apart, expected 1";
  return success();
}

LogicalResult ConvolutionOp::verify() {
  size_t rank = getInputShape().size();
  if (rank < 3 || getWeightShape().size() != rank || getOutputShape().size() != rank)
    return emitOpError() << "has tensors of rank " << rank << ", " << getWeightShape().size()
                         << " and " << getOutputShape().size()
                         << ", expected one rank of at least 3";
  for (ArrayRef<int64_t> list : {getStrides(), getDilations(), getPadsLow(), getPadsHigh()})
    if (list.size() != rank - 2)
      return emitOpError() << "has " << list.size() << " entries in a list, expected " << rank - 2
                           << ", one per spatial dim";
  return success();
}

LogicalResult GroupedMatmulOp::verify() {
  const std::pair<ViewAttr, size_t> views[] = {
      {getInputView(), 2}, {getWeightView(), 3}, {getOutputView(), 2}};
  for (auto [i, view] : llvm::enumerate(views))
    if (view.first.getBuffer() != static_cast<int64_t>(i) ||
        view.first.getStrides().size() != view.second)
      return emitOpError() << "has the view " << view.first << ", expected " << view.second
                           << " strides in buffer " << i;
  return success();
}

SmallVector<AttentionOp::Tensor> AttentionOp::getTensors() {
  auto shape = [&](uint64_t heads, std::initializer_list<uint64_t> matrix) {
    SmallVector<int64_t> sizes(getBatch());
    sizes.push_back(static_cast<int64_t>(heads));
    llvm::append_range(sizes, matrix);
    return sizes;
  };
  uint64_t heads = getHeads(), groups = getGroups(), queries = getQueries(), keys = getKeys(),
           width = getWidth(), depth = getDepth();
  SmallVector<Tensor> tensors = {
      {getQuery(), {}, shape(heads, {queries, width})},
      {getKey(), {}, shape(groups, {keys, width})},
      {getValue(), {}, shape(groups, {keys, depth})},
      {getResult(), {}, shape(heads, {queries, depth})},
      {getLse(), {}, shape(heads, {queries})},
      {getBias(), {}, shape(heads, {queries, keys})},
      {getMask(), {}, shape(heads, {queries, keys})},
      {getGrad(), {}, shape(heads, {queries, depth})},
      {getQueryGrad(), {}, shape(heads, {queries, width})},
      {getKeyGrad(), {}, shape(groups, {keys, width})},
      {getValueGrad(), {}, shape(groups, {keys, depth})},
  };
  llvm::erase_if(tensors, [](const Tensor &tensor) { return !tensor.buffer; });
  for (auto [tensor, view] : llvm::zip(tensors, getViews()))
    tensor.view = cast<ViewAttr>(view);
  return tensors;
}

LogicalResult AttentionOp::verify() {
  SmallVector<Tensor> tensors = getTensors();
  if (tensors.size() != getViews().size())
    return emitOpError() << "has " << tensors.size() << " tensors and " << getViews().size()
                         << " views";
  for (auto [i, tensor] : llvm::enumerate(tensors))
    if (tensor.view.getBuffer() != static_cast<int64_t>(i) ||
        tensor.view.getStrides().size() != tensor.shape.size())
      return emitOpError() << "has the view " << tensor.view << " as number " << i << ", expected "
                           << tensor.shape.size() << " strides in buffer " << i;
  if (getGroups() == 0 || getHeads() % getGroups() != 0)
    return emitOpError() << "has " << getHeads() << " heads in " << getGroups() << " groups";
  if (getWidth() > kMostAttentionColumns || getDepth() > kMostAttentionColumns)
    return emitOpError() << "has matrices of " << getWidth() << " and " << getDepth()
                         << " columns, expected at most " << kMostAttentionColumns;
  for (Value gradient : {getQueryGrad(), getKeyGrad(), getValueGrad()})
    if (static_cast<bool>(gradient) != static_cast<bool>(getGrad()))
      return emitOpError("needs the gradient of the result and all three gradients, or none");
  size_t dims = getOffsetDims() ? getOffsetDims()->size() : 0;
  if (dims != getOffsets().size())
    return emitOpError() << "has " << getOffsets().size() << " offsets for " << dims << " dims";
  return success();
}

LogicalResult CollectiveOp::verify() {
  if (getSend().size() != getRecv().size())
    return emitOpError() << "sends " << getSend().size() << " buffers and receives "
                         << getRecv().size() << ", expected pairs";
  if ((getKind() == CollectiveKind::Permute) != getToAxes().has_value()) // C3
    return emitOpError() << "is of kind " << StringRef(name(getKind())) << " and has "
                         << (getToAxes() ? "axes to permute to, expected none"
                                         : "no axes to permute to, expected them");
  if (getReversed() && !getToAxes()) // C3
    return emitOpError() << "is of kind " << StringRef(name(getKind()))
                         << " and reversed, which only a permute can be";
  ArrayRef<int64_t> axes = getAxes(), to = getToAxes().value_or(axes);
  if (!std::is_permutation(axes.begin(), axes.end(), to.begin(), to.end()))
    return emitOpError("permutes from positions along [")
           << axes << "] to positions along [" << to << "], expected the same axes";
  return success();
}

} // namespace cleave::program
