// The instruction rule for grouped products: sizes, strides and dtypes fit, the result overlaps no
// operand, and the work is bounded by the buffers. The ends are data, which the run checks. See
// Verify.h.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/Modules.h"
#include "runtime/artifact/VerifyRules.h"

namespace cleave::artifact {
namespace {

Status verifyGroupedSizes(const plan::GroupedMatmul &m) {
  for (int64_t size :
       {m.rows(), m.groups(), m.inputs(), m.outputs(), m.whole_groups(), m.whole_rows()})
    if (size < 0 || size > kMostElements)
      return Status::defect("it has a size of ", size);
  for (const StridedTensor &tensor : groupedTensors(m)) {
    const google::protobuf::RepeatedField<int64_t> sizes(tensor.sizes.begin(), tensor.sizes.end());
    CLEAVE_TRY(verifySizes(sizes));
  }
  if (m.groups() > m.whole_groups() || m.rows() > m.whole_rows())
    return Status::defect("it has ", m.rows(), " rows in ", m.groups(), " groups, and all ranks ",
                          m.whole_rows(), " in ", m.whole_groups());
  if (m.first_row_size() > 1 || m.first_group_size() > 1)
    return Status::defect("it has ", m.first_row_size(), " first rows and ", m.first_group_size(),
                          " first groups, expected at most one each");
  return Status::ok();
}

Status verifyGroupedTensor(const ProgramView &view, const StridedTensor &tensor, uint32_t written) {
  const plan::StridedOperand &operand = *tensor.operand;
  if (reachOf(operand, tensor.sizes) < 0)
    return Status::defect("its ", tensor.name, " needs one non-negative stride per dim");
  if (tensor.isWritten)
    return areDistinct(operand, tensor.sizes)
               ? Status::ok()
               : Status::defect("its ", tensor.name, " has several elements in one place");
  if (shareBytes(at(view, operand.buffer()), at(view, written)))
    return Status::defect("its result ", quoted(view, written), " overlaps its ", tensor.name);
  return Status::ok();
}

// Each element of the result is a sum over inputs, or over rows, which the factors hold.
Status verifyGroupedSums(const plan::GroupedMatmul &m) {
  const bool isRepeated =
      m.weight_gradient()
          ? m.rows() > 1 && m.input().strides(0) == 0 && m.output().strides(0) == 0
          : m.inputs() > 1 && m.input().strides(1) == 0 && m.weight().strides(1) == 0;
  return isRepeated ? Status::defect("it adds up ", m.weight_gradient() ? m.rows() : m.inputs(),
                                     " times the same product")
                    : Status::ok();
}

Status verifyEnds(const ProgramView &view, const plan::GroupedMatmul &m, uint32_t written) {
  const plan::DType dtype = at(view, m.ends()).dtype();
  if (dtype != plan::I32 && dtype != plan::I64)
    return Status::defect("its ends ", quoted(view, m.ends()), " are ", dtypeName(dtype),
                          ", expected i32 or i64");
  std::vector<uint32_t> read = {m.ends()};
  for (const auto *scalars : {&m.first_row(), &m.first_group()})
    for (uint32_t buffer : *scalars) {
      CLEAVE_TRY(verifyScalar(view, buffer));
      read.push_back(buffer);
    }
  for (uint32_t buffer : read)
    if (shareBytes(at(view, buffer), at(view, written)))
      return Status::defect("its result ", quoted(view, written), " overlaps its operand ",
                            quoted(view, buffer));
  return Status::ok();
}

} // namespace

Status verifyGroupedMatmul(const ProgramView &view, const plan::GroupedMatmul &m) {
  if (view.plan.device() != kCpu)
    return Status::defect("it is for CPUs, the plan for ", view.plan.device());
  CLEAVE_TRY(verifyGroupedSizes(m));
  const uint32_t input = m.input().buffer(), weight = m.weight().buffer(),
                 output = m.output().buffer();
  const uint32_t written = m.weight_gradient() ? weight : output;
  for (const StridedTensor &tensor : groupedTensors(m))
    CLEAVE_TRY(verifyGroupedTensor(view, tensor, written));
  CLEAVE_TRY(verifyProduct(view, input, m.weight_gradient() ? output : weight, written));
  CLEAVE_TRY(verifyGroupedSums(m));
  return verifyEnds(view, m, written);
}

} // namespace cleave::artifact
