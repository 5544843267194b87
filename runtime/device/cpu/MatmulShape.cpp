// Simplifies a matmul to an equal one with fewer batch dims, which needs fewer and larger gemms.
#include "runtime/base/MatmulDims.h"
#include "runtime/device/cpu/Parts.h"

namespace cleave::device {

MatmulShape simplified(const plan::Matmul &matmul) {
  std::vector<MatmulDim> batch;
  for (int i = 0; i < matmul.batch_size(); ++i)
    batch.push_back({matmul.batch(i), matmul.lhs().strides(i), matmul.rhs().strides(i),
                     matmul.out().strides(i)});
  batch = mergeDims(batch);
  int at = matmul.batch_size();
  MatmulShape shape;
  shape.m = matmul.m(), shape.n = matmul.n(), shape.k = matmul.k();
  MatmulDim rows{shape.m, matmul.lhs().strides(at), 0, matmul.out().strides(at)};
  // Batch dims without a stride in rhs become rows.
  while (!batch.empty()) {
    MatmulDim outer = batch.back();
    if (rows.size == 1 && outer.rhs == 0)
      rows = outer;
    else if (areMergeable(outer, rows))
      rows.size *= outer.size;
    else
      break;
    batch.pop_back();
  }
  shape.m = rows.size;
  for (const MatmulDim &dim : batch) {
    shape.batch.push_back(dim.size);
    shape.lhs.push_back(dim.lhs);
    shape.rhs.push_back(dim.rhs);
    shape.out.push_back(dim.out);
  }
  shape.lhs.insert(shape.lhs.end(), {rows.lhs, matmul.lhs().strides(at + 1)});
  shape.rhs.insert(shape.rhs.end(), {matmul.rhs().strides(at), matmul.rhs().strides(at + 1)});
  shape.out.insert(shape.out.end(), {rows.out, matmul.out().strides(at + 1)});
  return shape;
}

} // namespace cleave::device
