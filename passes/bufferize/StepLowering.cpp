// The phases of the lowering, and which family lowers an op.
#include "passes/bufferize/StepLowering.h"

#include "dialects/graph/Away.h"
#include "dialects/graph/Direct.h"
#include "passes/bufferize/Attention.h"
#include "passes/bufferize/Boundary.h"
#include "passes/bufferize/Convolution.h"
#include "passes/bufferize/GroupedMatmul.h"
#include "passes/bufferize/Kernels.h"
#include "passes/bufferize/Messages.h"
#include "passes/bufferize/PlanDestinations.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace cleave::bufferize {

static Mesh plainMeshOf(func::FuncOp step) {
  mesh::MeshAttr mesh = mesh::meshOf(step);
  return mesh ? mesh::toMesh(mesh) : Mesh();
}

StepLowering::StepLowering(func::FuncOp step, ProgramBuilder &program)
    : program_(program), mesh_(plainMeshOf(step)), order_(step), segments_(order_, program),
      buffers_(step, program), views_(order_, program, buffers_, destinations_),
      libraries_(step, program), sums_(order_, segments_, program, views_),
      layout_(program, buffers_, destinations_, views_),
      products_(program, buffers_, views_, libraries_, sums_), collectives_(program, mesh_, views_),
      coordinates_(program, mesh_, views_) {}

LogicalResult StepLowering::run() {
  if (failed(order_.read()) || (order_.isStage() && failed(checkMessages(order_))))
    return failure();
  segments_.add();
  StepBoundary boundary(order_, segments_, program_, mesh_, views_);
  StageMessages messages(order_, segments_, program_, mesh_, views_);
  if (failed(boundary.addArguments()))
    return failure();
  coordinates_.addIfSplit();
  planDestinations(order_, buffers_, views_, destinations_);
  boundary.addLoads();
  for (Operation *op : order_.ops().drop_back()) {
    if (order_.isStage() && order_.partOf(op).kind == graph::StagePart::Kind::Update)
      messages.exchange();
    program_.setSegment(segments_.of(op));
    program_.setSource(op);
    layout_.fillPadding(op);
    if (failed(lower(op)))
      return failure();
  }
  program_.setSource(nullptr);
  if (order_.isStage())
    messages.add();
  boundary.addResults();
  boundary.chooseEarlyLoads();
  segments_.setSchedule();
  markAway();
  return success();
}

// Marks the buffers of values that are kept elsewhere.
void StepLowering::markAway() {
  for (Operation *op : order_.ops())
    if (const Space space = graph::spaceOf(op->getAttr(graph::kAway)); space != Space::Device)
      for (Value result : op->getResults()) {
        const View *view = views_.find(result);
        auto buffer = view ? view->buffer.getDefiningOp<program::BufferOp>() : program::BufferOp();
        if (buffer && buffer.getRole() == program::Role::Activation)
          buffer->setAttr(program::kAway, program::SpaceAttr::get(op->getContext(), space));
      }
}

ArrayRef<cost::Strided> StepLowering::stridedOf(Operation *op) const {
  return isa<graph::DotGeneralOp>(op) ? products_.stridedOf(op) : layout_.stridedOf(op);
}

// The value becomes a tensor of the program.
void StepLowering::lowerConstant(graph::ConstantOp op) {
  std::vector<int64_t> shape = graph::staticShapeOf(op.getResult());
  Builder b(op.getContext());
  Attribute origin = b.getDictionaryAttr(b.getNamedAttr("data", op.getValue()));
  SmallVector<Attribute> dims(shape.size(), b.getArrayAttr({}));
  std::string name = "constant." + std::to_string(order_.positionOf(op));
  int64_t tensor = program_.addTensor(name, program::Role::Constant, op.getType(),
                                      b.getArrayAttr(dims), StringAttr(), origin);
  Value buffer = program_.addBuffer(name, program::Role::Constant,
                                    graph::elementTypeOf(op.getResult()), shape, tensor);
  views_.setNeverFree(buffer);
  views_.set(op.getResult(), View::dense(buffer, shape));
}

LogicalResult StepLowering::lower(Operation *op) {
  if (op->use_empty() || graph::splatValue(op->getResult(0)))
    return success();
  if (op->hasTrait<graph::LayoutOnly>())
    return layout_.lower(op), success();
  if (op->hasTrait<graph::OwnKernel>() || graph::isDirect(op))
    return lowerDenseKernel(op, program_, buffers_, views_), success();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<graph::ConcatOp, graph::PadOp>([&](auto o) { return layout_.lower(o), success(); })
      .Case([&](graph::ConstantOp o) { return lowerConstant(o), success(); })
      .Case([&](graph::AccumulateOp o) { return sums_.lower(o), success(); })
      .Case([&](graph::FusionOp o) { return lowerGroup(o, program_, buffers_, views_), success(); })
      .Case([&](graph::DotGeneralOp o) { return products_.lower(o), success(); })
      .Case<graph::ConvOp, graph::ConvInputGradOp, graph::ConvWeightGradOp>([&](Operation *o) {
        return lowerConvolution(o, program_, views_, libraries_), success();
      })
      .Case([&](graph::GroupedMatmulOp o) {
        return lowerGroupedMatmul(o, program_, buffers_, views_), success();
      })
      .Case([&](graph::GroupedWeightGradOp o) {
        return lowerGroupedWeightGrad(o, program_, buffers_, views_), success();
      })
      .Case([&](graph::AttentionOp o) {
        return lowerAttention(o, program_, buffers_, views_, libraries_), success();
      })
      .Case([&](graph::AttentionGradOp o) {
        return lowerAttentionGrad(o, program_, buffers_, views_, libraries_), success();
      })
      .Case<mesh::AllReduceOp, mesh::AllGatherOp, mesh::ReduceScatterOp, mesh::AllToAllOp,
            mesh::PermuteOp>([&](auto o) { return collectives_.lower(o), success(); })
      .Case<mesh::SliceOp, mesh::BlockOffsetOp>(
          [&](Operation *o) { return coordinates_.lower(o), success(); })
      .Default([&](Operation *o) {
        auto diag = o->emitOpError("cannot be executed: it has neither an instruction nor a kernel "
                                   "of its own, expected it inside a kernel group");
        diag.attachNote((*o->user_begin())->getLoc()) << "its result is read here";
        return diag;
      });
}

} // namespace cleave::bufferize
