// The form by strides, on buffers.
#include "passes/bufferize/MatmulForm.h"

namespace cleave::bufferize {

cost::ProductDims productDims(graph::DotGeneralOp dot) {
  return {dot.getLhsBatch().vec(), dot.getRhsBatch().vec(), dot.getLhsContracting().vec(),
          dot.getRhsContracting().vec()};
}

std::optional<MatmulForm> matmulForm(graph::DotGeneralOp dot, const View &lhs, const View &rhs,
                                     const View &out) {
  const std::optional<cost::ProductForm> form =
      cost::productForm(productDims(dot), lhs.strided(), rhs.strided(), out.strided());
  if (!form)
    return std::nullopt;
  auto on = [](const View &view, const std::vector<int64_t> &strides) {
    return View{view.buffer, view.offset, {}, llvm::SmallVector<int64_t>(llvm::ArrayRef(strides))};
  };
  const View &left = form->isSwapped ? rhs : lhs, &right = form->isSwapped ? lhs : rhs;
  return MatmulForm{llvm::SmallVector<int64_t>(llvm::ArrayRef(form->batch)),
                    form->m,
                    form->n,
                    form->k,
                    form->isSwapped,
                    on(left, form->lhs),
                    on(right, form->rhs),
                    on(out, form->out)};
}

} // namespace cleave::bufferize
