#include "passes/bufferize/DenseCopy.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace cleave::bufferize {

bool isWhole(const View &view, ArrayRef<int64_t> order) {
  return view.offset == 0 && (order.empty() ? view : view.transposed(order)).isDense() &&
         view.size() == ProgramBuilder::elementsOf(view.buffer);
}

View copyConverted(ProgramBuilder &program, const View &view, Type element) {
  View dense = View::dense(
      program.addBuffer("dense", program::Role::Workspace, element, view.shape), view.shape);
  program.copy(view, dense);
  return dense;
}

View copyToDense(ProgramBuilder &program, const View &view, ArrayRef<int64_t> order) {
  const Type element = ProgramBuilder::elementOf(view.buffer);
  if (order.empty())
    return copyConverted(program, view, element);
  return copyConverted(program, view.transposed(order), element)
      .transposed(invertPermutationVector(order));
}

} // namespace cleave::bufferize
