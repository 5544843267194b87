// The instruction rule for attention: sizes, strides and dtypes fit, results overlap no operand,
// and the work is bounded by the buffers. See Verify.h.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/Modules.h"
#include "runtime/artifact/VerifyRules.h"
#include "runtime/base/AttentionScratch.h"

#include <cmath>

namespace cleave::artifact {
namespace {

Status verifyAttentionSizes(const plan::Attention &a) {
  google::protobuf::RepeatedField<int64_t> scores = a.batch();
  for (int64_t size : {a.heads(), a.groups(), a.queries(), a.keys(), a.width(), a.depth()})
    if (size < 1 || size > kMostElements)
      return Status::defect("it has a size of ", size);
  scores.Add(a.heads()), scores.Add(a.queries());
  CLEAVE_TRY(verifySizes(scores));
  CLEAVE_TRY(verifySizes(a.whole()));
  if (a.heads() % a.groups() != 0)
    return Status::defect("it has ", a.heads(), " heads in ", a.groups(), " groups");
  for (int64_t columns : {a.width(), a.depth()})
    if (columns > kMostAttentionColumns)
      return Status::defect("it has matrices of ", columns, " columns, expected at most ",
                            kMostAttentionColumns);
  for (bool isPresent : {a.has_query_grad(), a.has_key_grad(), a.has_value_grad()})
    if (isPresent != a.has_grad())
      return Status::defect("it lacks the gradient of its result or one that it computes");
  int rank = a.batch_size() + 3; // of the scores
  if (a.whole_size() != 0 && a.whole_size() != rank)
    return Status::defect("its whole scores have ", a.whole_size(), " dims, expected ", rank);
  if (a.offsets_size() != a.offset_dims_size())
    return Status::defect("it has ", a.offsets_size(), " offsets in ", a.offset_dims_size(),
                          " dims");
  for (uint32_t dim : a.offset_dims())
    if (dim >= uint32_t(rank - 1))
      return Status::defect("it has an offset in dim ", dim);
  return Status::ok();
}

Status verifyAttentionNumbers(const plan::Attention &a) {
  if (!std::isfinite(a.scale()) || std::isnan(a.fill()))
    return Status::defect("it has the scale ", a.scale(), " and the fill ", a.fill());
  if (!(a.drop_rate() >= 0) || a.drop_rate() > 1)
    return Status::defect("it drops at a rate of ", a.drop_rate());
  if (a.seed_size() != (a.drop_rate() > 0 ? 1 : 0))
    return Status::defect("it has ", a.seed_size(), " seeds for a rate of dropout of ",
                          a.drop_rate());
  return Status::ok();
}

// Strides, dtypes, and that results have distinct elements.
Status verifyAttentionTensor(const ProgramView &view, const plan::Attention &attention,
                             const StridedTensor &tensor) {
  const plan::StridedOperand &operand = *tensor.operand;
  if (reachOf(operand, tensor.sizes) < 0)
    return Status::defect("its ", tensor.name, " needs one non-negative stride per dim");
  plan::DType expected = at(view, attention.query().buffer()).dtype();
  if (expected != plan::F32 && expected != plan::BF16 && expected != plan::F16)
    return Status::defect("its query is ", dtypeName(expected), ", expected f32, bf16 or f16");
  if (&operand == &attention.mask())
    expected = plan::BOOL;
  const bool isWideBias =
      &operand == &attention.bias() && at(view, operand.buffer()).dtype() == plan::F32;
  if (&operand == &attention.lse() || isWideBias)
    expected = plan::F32;
  if (at(view, operand.buffer()).dtype() != expected)
    return Status::defect("its ", tensor.name, " is ",
                          dtypeName(at(view, operand.buffer()).dtype()), ", expected ",
                          dtypeName(expected));
  if (tensor.isWritten && !areDistinct(operand, tensor.sizes))
    return Status::defect("its ", tensor.name, " has several elements in one place");
  size_t last = tensor.sizes.size() - 1;
  bool isKeys = &operand == &attention.key() || &operand == &attention.value();
  if (isKeys && tensor.sizes[last - 1] > 1 && operand.strides(int(last) - 1) == 0)
    return Status::defect("its ", tensor.name, " repeats one row ", tensor.sizes[last - 1],
                          " times");
  bool isAddedTo = &operand == &attention.key_grad() || &operand == &attention.value_grad();
  if (isAddedTo && tensor.sizes[last] > 1 && operand.strides(int(last)) != 1)
    return Status::defect("its ", tensor.name, " has a column stride of ",
                          operand.strides(int(last)), ", expected 1");
  return Status::ok();
}

// That a buffer that is read or used as scratch is apart from all results.
Status verifyApart(const ProgramView &view, const std::vector<StridedTensor> &tensors,
                   uint32_t buffer) {
  for (const StridedTensor &tensor : tensors)
    if (tensor.isWritten && shareBytes(at(view, buffer), at(view, tensor.operand->buffer())))
      return Status::defect("its ", tensor.name, " overlaps its operand ", quoted(view, buffer));
  return Status::ok();
}

Status verifyScratch(const ProgramView &view, const plan::Attention &a) {
  const AttentionSizes sizes = sizesOf(a);
  int64_t elementBytes = int64_t(byteSize(at(view, a.query().buffer()).dtype()));
  const bool isOurs = view.plan.device() == kCpu; // GPUs have a workspace instead
  int64_t bytes = a.has_grad() && isOurs ? attentionScratchBytes(sizes, elementBytes) : 0;
  if (a.scratch_size() != (bytes > 0 ? 1 : 0))
    return Status::defect("it has ", a.scratch_size(), " scratch buffers for ", bytes, " bytes");
  for (uint32_t buffer : a.scratch()) {
    const plan::Buffer &scratch = at(view, buffer);
    if (scratch.dtype() != plan::F32 || scratch.bytes() < uint64_t(bytes))
      return Status::defect("its scratch ", quoted(view, buffer), " has ", scratch.bytes(),
                            " bytes of ", dtypeName(scratch.dtype()), ", expected ", bytes,
                            " of f32");
  }
  return Status::ok();
}

} // namespace

Status verifyAttention(const ProgramView &view, const plan::Attention &attention) {
  CLEAVE_TRY(verifyAttentionSizes(attention));
  CLEAVE_TRY(verifyAttentionNumbers(attention));
  std::vector<StridedTensor> tensors = attentionTensors(attention);
  for (const StridedTensor &tensor : tensors)
    CLEAVE_TRY(verifyAttentionTensor(view, attention, tensor));
  CLEAVE_TRY(verifyScratch(view, attention));
  for (const StridedTensor &tensor : tensors)
    if (!tensor.isWritten) {
      CLEAVE_TRY(verifyApart(view, tensors, tensor.operand->buffer()));
      for (uint32_t scratch : attention.scratch())
        if (shareBytes(at(view, scratch), at(view, tensor.operand->buffer())))
          return Status::defect("its scratch overlaps its ", tensor.name);
    }
  for (const auto *scalars : {&attention.seed(), &attention.offsets()})
    for (uint32_t buffer : *scalars) {
      CLEAVE_TRY(verifyScalar(view, buffer));
      CLEAVE_TRY(verifyApart(view, tensors, buffer));
    }
  for (uint32_t scratch : attention.scratch())
    CLEAVE_TRY(verifyApart(view, tensors, scratch));
  return Status::ok();
}

} // namespace cleave::artifact
