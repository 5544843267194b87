// Brings a matmul into the smallest equal form: fewer batch dims mean fewer and larger gemms.
#include "runtime/device/cpu/Parts.h"

namespace cleave::device {
namespace {

struct Dim {
  int64_t size, lhs, rhs, out;
};

// Whether `outer` steps over whole runs of `inner`, for all three operands, so that they are one
// dim.
bool lieEvenly(const Dim &outer, const Dim &inner) {
  return outer.lhs == inner.size * inner.lhs && outer.rhs == inner.size * inner.rhs &&
         outer.out == inner.size * inner.out;
}

} // namespace

MatmulShape simplified(const plan::Matmul &matmul) {
  std::vector<Dim> batch;
  for (int i = 0; i < matmul.batch_size(); ++i) {
    Dim dim{matmul.batch(i), matmul.lhs().strides(i), matmul.rhs().strides(i),
            matmul.out().strides(i)};
    if (dim.size == 1)
      continue;
    if (!batch.empty() && lieEvenly(batch.back(), dim)) {
      dim.size *= batch.back().size;
      batch.back() = dim;
    } else {
      batch.push_back(dim);
    }
  }
  int at = matmul.batch_size();
  MatmulShape shape;
  shape.m = matmul.m(), shape.n = matmul.n(), shape.k = matmul.k();
  Dim rows{shape.m, matmul.lhs().strides(at), 0, matmul.out().strides(at)};
  // One rhs for all the batch: the batch is more rows.
  while (!batch.empty()) {
    Dim outer = batch.back();
    if (rows.size == 1 && outer.rhs == 0)
      rows = outer;
    else if (lieEvenly(outer, rows))
      rows.size *= outer.size;
    else
      break;
    batch.pop_back();
  }
  shape.m = rows.size;
  for (const Dim &dim : batch) {
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
