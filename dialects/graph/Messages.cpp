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

// -- what the other end has decided ---------------------------------------------------------------

static NamedAttribute dimsAttr(Builder &b, StringRef name, const std::vector<int> &dims) {
  return b.getNamedAttr(name,
                        b.getDenseI64ArrayAttr(SmallVector<int64_t>(dims.begin(), dims.end())));
}

static std::vector<int> dimsOf(Attribute attribute) {
  auto numbers = dyn_cast_or_null<DenseI64ArrayAttr>(attribute);
  return numbers ? std::vector<int>(numbers.asArrayRef().begin(), numbers.asArrayRef().end())
                 : std::vector<int>();
}

// The attributes of an argument or result with those of the other end.
static DictionaryAttr withEnd(DictionaryAttr before, const MessageEnd &end, MLIRContext *context) {
  Builder b(context);
  SmallVector<Attribute> layout;
  for (const std::vector<int> &axes : end.layout.dims)
    layout.push_back(dimsAttr(b, kLayout, axes).getValue());
  NamedAttrList attributes(before);
  attributes.set(kLayout, b.getArrayAttr(layout));
  for (NamedAttribute dims :
       {dimsAttr(b, kSamples, end.samples), dimsAttr(b, kPositions, end.positions)})
    attributes.set(dims.getName(), dims.getValue());
  return attributes.getDictionary(context);
}

static std::optional<MessageEnd> endOf(DictionaryAttr attributes) {
  auto layout = attributes ? attributes.getAs<ArrayAttr>(kLayout) : nullptr;
  if (!layout)
    return std::nullopt;
  MessageEnd end;
  for (Attribute axes : layout)
    end.layout.dims.push_back(dimsOf(axes));
  end.samples = dimsOf(attributes.get(kSamples));
  end.positions = dimsOf(attributes.get(kPositions));
  return end;
}

void setReceived(func::FuncOp step, unsigned i, const MessageEnd &end) {
  step.setArgAttrs(i, withEnd(step.getArgAttrDict(i), end, step.getContext()));
}

void setSent(func::FuncOp step, unsigned i, const MessageEnd &end) {
  step.setResultAttrs(i, withEnd(step.getResultAttrDict(i), end, step.getContext()));
}

std::optional<MessageEnd> receivedFrom(func::FuncOp step, unsigned i) {
  return endOf(step.getArgAttrDict(i));
}

std::optional<MessageEnd> sentTo(func::FuncOp step, unsigned i) {
  return endOf(step.getResultAttrDict(i));
}

} // namespace cleave::graph
