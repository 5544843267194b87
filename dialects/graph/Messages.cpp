// See Messages.h.
#include "dialects/graph/Messages.h"

using namespace mlir;

namespace cleave::graph {

StringRef nameOf(Passed passed) {
  switch (passed) {
  case Passed::Forward:
    return "forward";
  case Passed::Backward:
    return "backward";
  case Passed::Update:
    return "update";
  }
  llvm_unreachable("a message is passed at one of three times");
}

std::optional<Passed> passedNamed(Attribute attribute) {
  auto name = dyn_cast_or_null<StringAttr>(attribute);
  for (Passed passed : {Passed::Forward, Passed::Backward, Passed::Update})
    if (name && name.getValue() == nameOf(passed))
      return passed;
  return std::nullopt;
}

std::optional<Passed> receivedWhen(func::FuncOp step, unsigned i) {
  return passedNamed(step.getArgAttr(i, kMessage));
}

std::optional<Passed> sentWhen(func::FuncOp step, unsigned i) {
  return passedNamed(step.getResultAttr(i, kMessage));
}

int64_t senderOf(func::FuncOp step, unsigned i) {
  return step.getArgAttrOfType<IntegerAttr>(i, kPeer).getInt();
}

int64_t receiverOf(func::FuncOp step, unsigned i) {
  return step.getResultAttrOfType<IntegerAttr>(i, kPeer).getInt();
}

int64_t receivingChunk(func::FuncOp step, unsigned i) {
  return step.getArgAttrOfType<IntegerAttr>(i, kChunk).getInt();
}

int64_t sendingChunk(func::FuncOp step, unsigned i) {
  return step.getResultAttrOfType<IntegerAttr>(i, kChunk).getInt();
}

// -- what the other end knows and has decided -----------------------------------------------------

static DenseI64ArrayAttr numbersAttr(MLIRContext *context, const std::vector<int> &numbers) {
  return DenseI64ArrayAttr::get(context, SmallVector<int64_t>(numbers.begin(), numbers.end()));
}

static std::vector<int> numbersOf(Attribute attribute) {
  auto numbers = dyn_cast_or_null<DenseI64ArrayAttr>(attribute);
  return numbers ? std::vector<int>(numbers.asArrayRef().begin(), numbers.asArrayRef().end())
                 : std::vector<int>();
}

void setDims(func::FuncOp step, unsigned i, const MessageDims &dims) {
  step.setArgAttr(i, kSamples, numbersAttr(step.getContext(), dims.samples));
  step.setArgAttr(i, kPositions, numbersAttr(step.getContext(), dims.positions));
}

MessageDims dimsOf(func::FuncOp step, unsigned i) {
  return {numbersOf(step.getArgAttr(i, kSamples)), numbersOf(step.getArgAttr(i, kPositions))};
}

static ArrayAttr layoutAttr(MLIRContext *context, const Sharding &layout) {
  SmallVector<Attribute> dims;
  for (const std::vector<int> &axes : layout.dims)
    dims.push_back(numbersAttr(context, axes));
  return ArrayAttr::get(context, dims);
}

static std::optional<Sharding> layoutOf(Attribute attribute) {
  auto dims = dyn_cast_or_null<ArrayAttr>(attribute);
  if (!dims)
    return std::nullopt;
  Sharding layout;
  for (Attribute axes : dims)
    layout.dims.push_back(numbersOf(axes));
  return layout;
}

void setSenderLayout(func::FuncOp step, unsigned i, const Sharding &layout) {
  step.setArgAttr(i, kLayout, layoutAttr(step.getContext(), layout));
}

void setReceiverLayout(func::FuncOp step, unsigned i, const Sharding &layout) {
  step.setResultAttr(i, kLayout, layoutAttr(step.getContext(), layout));
}

std::optional<Sharding> senderLayout(func::FuncOp step, unsigned i) {
  return layoutOf(step.getArgAttr(i, kLayout));
}

std::optional<Sharding> receiverLayout(func::FuncOp step, unsigned i) {
  return layoutOf(step.getResultAttr(i, kLayout));
}

} // namespace cleave::graph
