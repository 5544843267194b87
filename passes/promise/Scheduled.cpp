// The phase `scheduled`.
//
//  P1  The module holds programs, the first of them a step, and no function. No rank runs two of
//      one kind.
//  P2  A buffer holds its tensor.
//  P3  It lives within the program's instructions; parameters, states, constants, coordinates and
//      inputs that are loaded early live all the time.
//  P4  Every instruction uses buffers that are alive.
//  P5  A launch names a kernel of the module and gives it as many buffers as it has; the kernel's
//      tensors lie inside them.
//  P6  The operands of matmuls, convolutions and attentions lie inside their buffers. The bias of a
//      matmul has the type of its result.
//  P7  A copy has two buffers of equal size.
//  P8  A collective acts on axes of the mesh, and the number of elements that it receives follows
//      from the number that it sends.
//  P9  Every parameter, state and constant has an origin. The module of one in a file has a
//      graph.model (dialects/graph/Provenance.h).
#include "passes/promise/Promise.h"

#include "dialects/mesh/MeshDialect.h"
#include "dialects/program/Program.h"
#include "passes/promise/Rules.h"

using namespace mlir;

namespace cleave::promise {

static constexpr StringLiteral kScheduledPhase = "scheduled";

namespace {

bool isLoadedEarly(program::BufferOp buffer) {
  return llvm::any_of(buffer.getResult().getUsers(), [](Operation *user) {
    auto load = dyn_cast<program::LoadInputOp>(user);
    return load && load.getEarly();
  });
}

int64_t elementBytes(Type element) { return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8); }

// One past the last element that a tensor of this shape touches in its buffer; -1 where it begins
// before the buffer or has another number of strides than dims.
int64_t reachOf(program::ViewAttr view, ArrayRef<int64_t> shape) {
  if (view.getStrides().size() != shape.size())
    return -1;
  int64_t first = view.getOffset(), last = view.getOffset();
  for (auto [size, stride] : llvm::zip(shape, view.getStrides())) {
    if (size == 0)
      return 0;
    (stride < 0 ? first : last) += (size - 1) * stride;
  }
  return first < 0 ? -1 : last + 1;
}

class ProgramChecker {
public:
  ProgramChecker(program::ProgramOp program, const Mesh &mesh) : program_(program), mesh_(mesh) {
    for (auto kernel : program->getParentOfType<ModuleOp>().getOps<program::KernelOp>())
      kernels_[kernel.getSymNameAttr()] = kernel;
    for (auto segment : body().getOps<program::SegmentOp>())
      instructions_ += llvm::range_size(segment.getBody().front());
  }

  LogicalResult check() {
    for (auto buffer : body().getOps<program::BufferOp>())
      if (failed(checkBuffer(buffer)))
        return failure();
    int64_t position = 0;
    for (auto segment : body().getOps<program::SegmentOp>())
      for (Operation &instruction : segment.getBody().front())
        if (failed(checkLiveness(&instruction, position++)) ||
            failed(checkInstruction(&instruction)))
          return failure();
    return success();
  }

private:
  Block &body() { return program_.getBody().front(); }

  static program::BufferOp bufferOf(Value value) {
    return value.getDefiningOp<program::BufferOp>();
  }
  static RankedTensorType typeOf(Value value) {
    return cast<RankedTensorType>(bufferOf(value).getType());
  }
  static int64_t bytesOf(Value value) { return static_cast<int64_t>(bufferOf(value).getBytes()); }

  static InFlightDiagnostic brokenBuffer(program::BufferOp buffer, StringRef rule) {
    return broken(buffer.getLoc(), kScheduledPhase, rule) << "buffer '" << buffer.getName() << "' ";
  }

  // P2, P3
  LogicalResult checkBuffer(program::BufferOp buffer) {
    auto type = dyn_cast<RankedTensorType>(buffer.getType());
    if (!type || !type.hasStaticShape())
      return brokenBuffer(buffer, "P2")
             << "has the type " << buffer.getType() << ", expected a tensor of static shape";
    int64_t bytes = static_cast<int64_t>(buffer.getBytes());
    int64_t needed = type.getNumElements() * elementBytes(type.getElementType());
    if (bytes < needed)
      return brokenBuffer(buffer, "P2")
             << "has " << bytes << " bytes, but its tensor needs " << needed;
    int64_t first = static_cast<int64_t>(buffer.getFirst());
    int64_t last = static_cast<int64_t>(buffer.getLast());
    bool isInside = isPersistent(buffer.getRole()) || isLoadedEarly(buffer)
                        ? first == 0 && last + 1 >= instructions_
                        : first >= 0 && first <= last && last < instructions_;
    if (!isInside)
      return brokenBuffer(buffer, "P3")
             << "of role " << StringRef(name(buffer.getRole())) << " lives from " << first << " to "
             << last << " of " << instructions_ << " instructions";
    return success();
  }

  // P4
  LogicalResult checkLiveness(Operation *instruction, int64_t position) {
    for (Value operand : instruction->getOperands()) {
      program::BufferOp buffer = bufferOf(operand);
      if (!buffer)
        return broken(instruction, kScheduledPhase, "P4")
               << "uses what is not a buffer of the program";
      if (position < static_cast<int64_t>(buffer.getFirst()) ||
          position > static_cast<int64_t>(buffer.getLast()))
        return broken(instruction, kScheduledPhase, "P4")
               << "stands at position " << position << ", but buffer '" << buffer.getName()
               << "' lives from " << buffer.getFirst() << " to " << buffer.getLast();
    }
    return success();
  }

  LogicalResult checkInstruction(Operation *instruction) {
    if (auto launch = dyn_cast<program::LaunchOp>(instruction))
      return checkLaunch(launch);
    if (auto matmul = dyn_cast<program::MatmulOp>(instruction))
      return checkMatmul(matmul);
    if (auto convolution = dyn_cast<program::ConvolutionOp>(instruction))
      return checkConvolution(convolution);
    if (auto attention = dyn_cast<program::AttentionOp>(instruction))
      return checkAttention(attention);
    if (auto matmul = dyn_cast<program::GroupedMatmulOp>(instruction))
      return checkGroupedMatmul(matmul);
    if (auto collective = dyn_cast<program::CollectiveOp>(instruction))
      return checkCollective(collective);
    auto copy = dyn_cast<program::CopyOp>(instruction);
    if (copy && bytesOf(copy.getFrom()) != bytesOf(copy.getTo()))
      return broken(copy, kScheduledPhase, "P7")
             << "copies " << bytesOf(copy.getFrom()) << " bytes to " << bytesOf(copy.getTo());
    return success();
  }

  // Checks that a tensor of this shape and element type lies inside `buffer` in this view.
  static LogicalResult checkView(Operation *op, StringRef rule, const Twine &what,
                                 program::ViewAttr view, ArrayRef<int64_t> shape, Type element,
                                 Value buffer) {
    int64_t reach = reachOf(view, shape);
    if (reach >= 0 && reach * elementBytes(element) <= bytesOf(buffer))
      return success();
    return broken(op, kScheduledPhase, rule)
           << "has its " << what << " at " << view << " outside of buffer '"
           << bufferOf(buffer).getName() << "' of " << bytesOf(buffer) << " bytes";
  }

  // P5
  LogicalResult checkLaunch(program::LaunchOp launch) {
    program::KernelOp kernel = kernels_.lookup(launch.getKernelAttr().getAttr());
    if (!kernel)
      return broken(launch, kScheduledPhase, "P5")
             << "names the kernel " << launch.getKernelAttr() << ", which does not exist";
    ValueRange buffers = launch.getBuffers();
    if (kernel.getBuffers() != buffers.size())
      return broken(launch, kScheduledPhase, "P5")
             << "has " << buffers.size() << " buffers, but " << launch.getKernelAttr() << " has "
             << kernel.getBuffers();
    for (int64_t position : launch.getWritten())
      if (position < 0 || position >= static_cast<int64_t>(buffers.size()))
        return broken(launch, kScheduledPhase, "P5")
               << "writes buffer " << position << " of " << buffers.size();
    const int64_t own = kernel.instanceBuffers();
    for (int64_t first = 0; first < static_cast<int64_t>(buffers.size()); first += own)
      if (failed(checkViews(launch, kernel, buffers.slice(first, own))))
        return failure();
    return success();
  }

  // Checks the views of one instance of a kernel.
  static LogicalResult checkViews(program::LaunchOp launch, program::KernelOp kernel,
                                  ValueRange buffers) {
    auto checkTensor = [&](const Twine &what, program::ViewAttr view, Type type) {
      auto tensor = cast<RankedTensorType>(type);
      return checkView(launch, "P5", what, view, tensor.getShape(), tensor.getElementType(),
                       buffers[view.getBuffer()]);
    };
    for (auto [i, argument] : llvm::enumerate(kernel.getBody().getArguments()))
      if (failed(checkTensor("operand " + Twine(i), kernel.getOperandView(i), argument.getType())))
        return failure();
    for (auto [i, type] : llvm::enumerate(kernel.getComputation().getResultTypes()))
      if (failed(checkTensor("result " + Twine(i), kernel.getResultView(i), type)))
        return failure();
    return success();
  }

  // P6
  LogicalResult checkMatmul(program::MatmulOp op) {
    auto checkOperand = [&](StringRef what, Value buffer, program::ViewAttr view, int64_t rows,
                            int64_t columns) {
      SmallVector<int64_t> shape(op.getBatch());
      shape.append({rows, columns});
      return checkView(op, "P6", what, view, shape, typeOf(buffer).getElementType(), buffer);
    };
    int64_t m = static_cast<int64_t>(op.getM()), n = static_cast<int64_t>(op.getN()),
            k = static_cast<int64_t>(op.getK());
    if (failed(checkOperand("lhs", op.getLhs(), op.getLhsView(), m, k)) ||
        failed(checkOperand("rhs", op.getRhs(), op.getRhsView(), k, n)))
      return failure();
    if (Value bias = op.getBias()) {
      Type element = typeOf(op.getOut()).getElementType();
      if (typeOf(bias).getElementType() != element)
        return broken(op, kScheduledPhase, "P6")
               << "has a bias of " << typeOf(bias).getElementType() << ", expected " << element;
      if (failed(checkView(op, "P6", "bias", program::denseView(op.getContext(), 0, {n}), {n},
                           element, bias)))
        return failure();
    }
    return checkOperand("out", op.getOut(), op.getOutView(), m, n);
  }

  // P6
  LogicalResult checkConvolution(program::ConvolutionOp op) {
    auto checkDense = [&](StringRef what, Value buffer, ArrayRef<int64_t> shape) {
      return checkView(op, "P6", what, program::denseView(op.getContext(), 0, shape), shape,
                       typeOf(buffer).getElementType(), buffer);
    };
    if (failed(checkDense("input", op.getInput(), op.getInputShape())) ||
        failed(checkDense("weight", op.getWeight(), op.getWeightShape())))
      return failure();
    return checkDense("output", op.getOutput(), op.getOutputShape());
  }

  // P6
  LogicalResult checkAttention(program::AttentionOp op) {
    for (auto [i, tensor] : llvm::enumerate(op.getTensors()))
      if (failed(checkView(op, "P6", "tensor " + Twine(i), tensor.view, tensor.shape,
                           typeOf(tensor.buffer).getElementType(), tensor.buffer)))
        return failure();
    return success();
  }

  // P6
  LogicalResult checkGroupedMatmul(program::GroupedMatmulOp op) {
    auto check = [&](StringRef what, Value buffer, program::ViewAttr view,
                     std::initializer_list<uint64_t> sizes) {
      return checkView(op, "P6", what, view, SmallVector<int64_t>(sizes.begin(), sizes.end()),
                       typeOf(buffer).getElementType(), buffer);
    };
    if (failed(check("input", op.getInput(), op.getInputView(), {op.getRows(), op.getInputs()})) ||
        failed(check("weight", op.getWeight(), op.getWeightView(),
                     {op.getGroups(), op.getInputs(), op.getOutputs()})))
      return failure();
    return check("output", op.getOutput(), op.getOutputView(), {op.getRows(), op.getOutputs()});
  }

  // P8
  LogicalResult checkCollective(program::CollectiveOp op) {
    int64_t ranks = 1;
    llvm::SmallDenseSet<int64_t> axes;
    for (int64_t axis : op.getAxes()) {
      if (axis < 0 || axis >= static_cast<int64_t>(mesh_.axes.size()) || !axes.insert(axis).second)
        return broken(op, kScheduledPhase, "P8")
               << "acts on the mesh axis " << axis << ", which does not exist or is named twice";
      ranks *= mesh_.axes[axis].size;
    }
    for (auto [send, recv] : llvm::zip(op.getSend(), op.getRecv())) {
      int64_t sent = typeOf(send).getNumElements(), received = typeOf(recv).getNumElements();
      int64_t expected = elementsReceived(op.getKind(), sent, ranks);
      if (received != expected)
        return broken(op, kScheduledPhase, "P8")
               << "sends " << sent << " elements among " << ranks << " ranks and receives "
               << received << ", expected " << expected;
    }
    return success();
  }

  program::ProgramOp program_;
  const Mesh &mesh_;
  llvm::DenseMap<StringAttr, program::KernelOp> kernels_;
  int64_t instructions_ = 0; // of all segments
};

} // namespace

// P9
static LogicalResult checkOrigins(ModuleOp module) {
  for (auto tensor : module.getOps<program::TensorOp>())
    if (isPersistent(tensor.getRole()) &&
        failed(checkSource(tensor, kScheduledPhase, "P9",
                           StringRef(name(tensor.getRole())) + " '" + tensor.getName() + "'",
                           tensor.getOrigin().value_or(Attribute()))))
      return failure();
  return success();
}

// P1
static LogicalResult checkKinds(ArrayRef<program::ProgramOp> programs) {
  for (size_t i = 0; i < programs.size(); ++i)
    for (program::ProgramOp b : programs.drop_front(i + 1))
      if (program::ProgramOp a = programs[i]; shareRank(a, b) && a.getKind() == b.getKind())
        return broken(b.getLoc(), kScheduledPhase, "P1")
               << "two programs are the " << stringifyKind(b.getKind()) << " of one rank";
  return success();
}

LogicalResult checkScheduled(ModuleOp module) {
  SmallVector<program::ProgramOp> programs(module.getOps<program::ProgramOp>());
  if (programs.empty() || programs.front().getKind() != program::Kind::Step ||
      !module.getOps<func::FuncOp>().empty())
    return broken(module.getLoc(), kScheduledPhase, "P1")
           << "the module holds " << programs.size()
           << " programs, expected a step first, and no function";
  Mesh mesh;
  if (auto attr = module->getAttrOfType<mesh::MeshAttr>(mesh::kMesh))
    mesh = mesh::toMesh(attr);
  if (failed(checkKinds(programs)) || failed(checkOrigins(module)))
    return failure();
  for (program::ProgramOp program : programs)
    if (failed(ProgramChecker(program, mesh).check()))
      return failure();
  return success();
}

} // namespace cleave::promise
