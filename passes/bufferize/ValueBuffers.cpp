// Chooses the layout of a new buffer: channels-last, with a pitch of rows, or dense.
#include "passes/bufferize/ValueBuffers.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace cleave::bufferize {
namespace {

// A factor of a product: the number of dims that are neither batch nor contracting, and whether the
// product keeps the last dim apart, since no other dim is of its kind.
struct FactorDims {
  int64_t free;
  bool isLastAlone;
};
FactorDims dimsOf(Value factor, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracting) {
  const int64_t rank = graph::rankOf(factor), last = rank - 1,
                free = rank - static_cast<int64_t>(batch.size() + contracting.size());
  const bool isContracting = is_contained(contracting, last), isBatch = is_contained(batch, last);
  return {free, isContracting ? contracting.size() == 1 : !isBatch && free == 1};
}

// Whether the op accepts a value whose rows have a pitch, as an operand or as its result.
bool acceptsPitch(Operation *op, Value value) {
  auto dot = dyn_cast<graph::DotGeneralOp>(op);
  if (!dot)
    return isa<graph::FusionOp>(op);
  const FactorDims lhs = dimsOf(dot.getLhs(), dot.getLhsBatch(), dot.getLhsContracting()),
                   rhs = dimsOf(dot.getRhs(), dot.getRhsBatch(), dot.getRhsContracting());
  if (value == dot.getResult()) // its last dims are the columns, if there are any
    return (rhs.free > 0 ? rhs.free : lhs.free) == 1;
  return (value != dot.getLhs() || lhs.isLastAlone) && (value != dot.getRhs() || rhs.isLastAlone);
}

} // namespace

ValueBuffers::ValueBuffers(func::FuncOp step, ProgramBuilder &program)
    : program_(program), isForGpus_(program::isForGpus(step)) {
  if (isForGpus_)
    channelsLast_ = analysis::ChannelsLast(step);
}

SmallVector<int64_t> ValueBuffers::chosenOrder(Value value) const {
  return isChannelsLast(value) ? analysis::channelsLastOrder(graph::rankOf(value))
                               : SmallVector<int64_t>();
}

View ValueBuffers::add(Value value, StringRef suffix) {
  if (SmallVector<int64_t> order = chosenOrder(value); !order.empty())
    return addIn(value, order);
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

bool ValueBuffers::hasPitch(Value value) const {
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

View ValueBuffers::addLike(Value value, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, graph::rankOf(value)));
  llvm::stable_sort(order, [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  return addIn(value, order);
}

View ValueBuffers::addIn(Value value, ArrayRef<int64_t> order) {
  std::vector<int64_t> shape = graph::staticShapeOf(value);
  SmallVector<int64_t> stored = applyPermutation(ArrayRef<int64_t>(shape), order);
  std::string name = value.getDefiningOp()->getName().stripDialect().str();
  Value buffer =
      program_.addBuffer(name, program::Role::Activation, graph::elementTypeOf(value), stored);
  return View::dense(buffer, stored).transposed(invertPermutationVector(order));
}

bool ValueBuffers::hasAll(const View &view) const {
  return isPitched(view.buffer) || view.size() == ProgramBuilder::elementsOf(view.buffer);
}

cost::Strided ValueBuffers::withoutPitch(const View &view) const {
  return isPitched(view.buffer) ? View::dense(view.buffer, view.shape).strided() : view.strided();
}

} // namespace cleave::bufferize
