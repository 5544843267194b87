// Adds buffers, kernels and instructions; kernels that compute the same are one kernel.
#include "passes/bufferize/ProgramBuilder.h"

#include "compiler/analysis/Identity.h"
#include "dialects/graph/Cost.h"
#include "dialects/graph/Provenance.h"
#include "runtime/base/Concat.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace cleave::bufferize {

ProgramBuilder::ProgramBuilder(ModuleOp module, ProgramTables &tables, program::Kind kind)
    : module_(module), tables_(tables), b_(module.getContext()), loc_(module.getLoc()) {
  b_.setInsertionPointToEnd(module.getBody());
  program_ = program::ProgramOp::create(b_, loc_, program::ArenaAttr(), program::ArenaAttr(),
                                        program::ArenaAttr(), ArrayRef<int64_t>(), kind,
                                        DenseI64ArrayAttr(), StringAttr());
  program_.getBody().emplaceBlock();
  b_.setInsertionPoint(*module.getOps<program::ProgramOp>().begin());
}

void ProgramBuilder::share(program::ProgramOp other) {
  sharedTensors_ = tables_.tensors;
  OpBuilder inside = OpBuilder::atBlockBegin(&program_.getBody().front());
  for (auto buffer : other.getBody().front().getOps<program::BufferOp>())
    if (isPersistent(buffer.getRole()))
      lastBuffer_ = inside.clone(*buffer);
}

void ProgramBuilder::setSource(Operation *op) {
  StringRef name = op ? graph::nameOf(op->getLoc()) : StringRef();
  source_ = name.empty() ? StringAttr() : b_.getStringAttr(name);
  sourceOp_ = op;
}

program::SegmentOp ProgramBuilder::addSegment(StringRef name) {
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToEnd(&program_.getBody().front());
  segment_ = program::SegmentOp::create(b_, loc_, b_.getStringAttr(name));
  segment_.getBody().emplaceBlock();
  return segment_;
}

int64_t ProgramBuilder::addTensor(StringRef name, program::Role role, Type type, ArrayAttr dims,
                                  StringAttr parameter, Attribute origin, const InputFacts &input) {
  program::TensorOp::create(b_, loc_, b_.getStringAttr(name),
                            program::RoleAttr::get(b_.getContext(), role), TypeAttr::get(type),
                            dims, parameter, origin, input.vocabulary, input.lowest, input.ignored,
                            input.isLabel ? b_.getUnitAttr() : UnitAttr(), input.allOf);
  return tables_.tensors++;
}

static int64_t bytesOf(Type element) {
  return static_cast<int64_t>(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
}

Value ProgramBuilder::addBuffer(StringRef name, program::Role role, Type element,
                                ArrayRef<int64_t> shape, int64_t tensor) {
  OpBuilder::InsertionGuard guard(b_);
  if (lastBuffer_)
    b_.setInsertionPointAfter(lastBuffer_);
  else
    b_.setInsertionPointToStart(&program_.getBody().front());
  auto type = RankedTensorType::get(shape, element);
  int64_t bytes = type.getNumElements() * bytesOf(element);
  auto number = [&](int64_t value) { return b_.getI64IntegerAttr(value); };
  auto buffer = program::BufferOp::create(
      b_, loc_, program::BufferType::get(b_.getContext()), b_.getStringAttr(name),
      program::RoleAttr::get(b_.getContext(), role), TypeAttr::get(type), number(0), number(bytes),
      number(0), number(0), number(tensor),
      program::SpaceAttr::get(b_.getContext(), Space::Device));
  lastBuffer_ = buffer;
  return buffer.getResult();
}

std::optional<SharedTensor> ProgramBuilder::findShared(StringRef name, Type type,
                                                       Attribute origin) {
  for (auto [i, op] : llvm::enumerate(module_.getOps<program::TensorOp>()))
    if (static_cast<int64_t>(i) < sharedTensors_ && op.getName() == name && op.getType() == type &&
        op.getOrigin().value_or(Attribute()) == origin)
      return SharedTensor{op, static_cast<int64_t>(i)};
  return std::nullopt;
}

Value ProgramBuilder::findBuffer(program::Role role, int64_t tensor) {
  for (auto buffer : program_.getBody().front().getOps<program::BufferOp>())
    if (buffer.getRole() == role && static_cast<int64_t>(buffer.getTensor()) == tensor)
      return buffer.getResult();
  return {};
}

Type ProgramBuilder::elementOf(Value buffer) {
  return cast<RankedTensorType>(buffer.getDefiningOp<program::BufferOp>().getType())
      .getElementType();
}

int64_t ProgramBuilder::elementsOf(Value buffer) {
  return cast<RankedTensorType>(buffer.getDefiningOp<program::BufferOp>().getType())
      .getNumElements();
}

// A name such as `k7_sub_exp_div`, of the first few compute ops.
std::string ProgramBuilder::nameOf(Operation *op) {
  std::string name = "k" + std::to_string(tables_.kernels.size());
  auto append = [&](Operation *inner) { name += "_" + inner->getName().stripDialect().str(); };
  auto fusion = dyn_cast<graph::FusionOp>(op);
  if (!fusion) {
    append(op);
    return name;
  }
  int count = 0;
  StringRef last;
  for (Operation &inner : fusion.getBody().front().without_terminator()) {
    if (!inner.hasTrait<graph::ComputeOp>() || inner.getName().stripDialect() == last ||
        ++count > 4)
      continue;
    last = inner.getName().stripDialect();
    append(&inner);
  }
  return count == 0 ? name + "_copy" : name;
}

program::KernelOp ProgramBuilder::kernelFor(Operation *op, int64_t buffers, ArrayAttr operands,
                                            ArrayAttr results) {
  std::string identity = analysis::identityOf(op);
  for (const void *part : {operands.getAsOpaquePointer(), results.getAsOpaquePointer()})
    identity.append(reinterpret_cast<const char *>(&part), sizeof(part));
  auto [known, isNew] = tables_.kernels.try_emplace(concat(buffers, '/', identity));
  if (!isNew)
    return known->second;
  auto kernel = program::KernelOp::create(
      b_, loc_, b_.getStringAttr("kernel"), b_.getI64IntegerAttr(buffers), operands, results,
      IntegerAttr(), DenseI64ArrayAttr(), FloatAttr(), FloatAttr(), IntegerAttr());
  Block &body = kernel.getBody().emplaceBlock();
  IRMapping mapping;
  SmallVector<Value> arguments;
  for (Value operand : op->getOperands())
    arguments.push_back(body.addArgument(operand.getType(), loc_));
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  Operation *copy = op->clone();
  copy->setOperands(arguments);
  inside.insert(copy);
  copy->walk([&](Operation *inner) { inner->setLoc(loc_); });
  known->second = kernel;
  kernel.setSymName(nameOf(op));
  const KernelWork work = graph::workOf(op);
  kernel.setFlopsAttr(b_.getF64FloatAttr(work.flops));
  kernel.setBytesAttr(b_.getF64FloatAttr(work.bytes));
  return kernel;
}

program::LaunchOp ProgramBuilder::launch(Operation *op, ArrayRef<View> operands,
                                         ArrayRef<View> results, Value extra) {
  if (llvm::all_of(results, [](const View &view) { return view.size() == 0; }))
    return nullptr;
  SmallVector<Value> buffers;
  auto positionOf = [&](Value buffer) {
    auto it = llvm::find(buffers, buffer);
    if (it == buffers.end())
      it = buffers.insert(buffers.end(), buffer);
    return std::distance(buffers.begin(), it);
  };
  SmallVector<Attribute> operandViews, resultViews;
  SmallVector<int64_t> written;
  for (const View &view : operands)
    operandViews.push_back(view.attribute(positionOf(view.buffer)));
  for (const View &view : results) {
    int64_t position = positionOf(view.buffer);
    resultViews.push_back(view.attribute(position));
    if (!llvm::is_contained(written, position))
      written.push_back(position);
  }
  if (extra)
    buffers.push_back(extra);
  program::KernelOp kernel =
      kernelFor(op, buffers.size(), b_.getArrayAttr(operandViews), b_.getArrayAttr(resultViews));
  return add<program::LaunchOp>(FlatSymbolRefAttr::get(kernel.getSymNameAttr()), buffers,
                                b_.getDenseI64ArrayAttr(written));
}

void ProgramBuilder::copy(const View &from, const View &to) {
  if (from.isSamePlace(to) || from.size() == 0)
    return;
  auto isWhole = [](const View &view) {
    return view.offset == 0 && view.isDense() && view.size() == elementsOf(view.buffer);
  };
  const int64_t bytes = from.size() * bytesOf(elementOf(from.buffer));
  auto type = RankedTensorType::get(from.shape, elementOf(from.buffer)),
       toType = RankedTensorType::get(to.shape, elementOf(to.buffer));
  if (type == toType && isWhole(from) && isWhole(to)) {
    copies_[add<program::CopyOp>(from.buffer, to.buffer)] = bytes;
    return;
  }
  OpBuilder detached(b_.getContext());
  Block block;
  Value operand = block.addArgument(type, loc_);
  OperationState state(loc_, graph::FusionOp::getOperationName(), operand, toType, {});
  Region *region = state.addRegion();
  Operation *fusion = detached.create(state);
  Block *body = new Block();
  region = &fusion->getRegion(0);
  region->push_back(body);
  detached.setInsertionPointToEnd(body);
  Value value = body->addArgument(type, loc_);
  if (type != toType)
    value = graph::CastOp::create(detached, loc_, toType, value);
  graph::YieldOp::create(detached, loc_, value);
  copies_[launch(fusion, from, to)] = bytes;
  fusion->destroy();
}

void ProgramBuilder::fill(Value buffer, double value) {
  add<program::FillOp>(buffer, b_.getF64FloatAttr(value));
}

} // namespace cleave::bufferize
