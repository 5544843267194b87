// cuDNN's functions: descriptors keep their attributes, and a plan that is executed accesses the
// tensors of its operations; graphs without convolutions are computed. See RecordingDriver.h.
#include "runtime/base/Concat.h"
#include "test/unit/runtime_device_cuda/DnnEvaluation.h"
#include "test/unit/runtime_device_cuda/Recorder.h"
#include "test/unit/runtime_device_cuda/RecordingDriver.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace cleave::test {
namespace {

using namespace device::dnn;
using Descriptor = DnnDescriptor;

Descriptor &at(DescriptorRef d) { return descriptorAt(d); }

Recorder &the() { return *Recorder::current(); }

constexpr int kBadParameter = 2000;
// The workspace that every plan claims to need, unless the variant pack has none.
constexpr int64_t kWorkspaceBytes = 0;

struct HandleFacts {
  device::driver::Stream stream = nullptr;
};

int64_t sizeOfType(int type) {
  switch (type) {
  case kTypeBoolean:
    return 1;
  case kTypeInt64:
  case kTypeDouble:
  case kTypeVoidPtr:
  case kTypeDescriptor:
  case kTypeHandle:
    return 8;
  default:
    return 4;
  }
}

// The attributes without which a descriptor cannot be finalized.
std::vector<int> requiredBy(int type) {
  switch (type) {
  case kTensor:
    return {kTensorDataType, kTensorDims, kTensorStrides, kTensorId, kTensorAlignment};
  case kConvolution:
    return {kConvolutionType,     kConvolutionMode,         kConvolutionSpatialDims,
            kConvolutionStrides,  kConvolutionPostPaddings, kConvolutionPrePaddings,
            kConvolutionDilations};
  case kConvolutionForward:
    return {kForwardAlpha, kForwardBeta, kForwardConvolution, kForwardW, kForwardX, kForwardY};
  case kConvolutionBackwardData:
    return {kDataAlpha, kDataBeta, kDataConvolution, kDataW, kDataDx, kDataDy};
  case kConvolutionBackwardFilter:
    return {kFilterAlpha, kFilterBeta, kFilterConvolution, kFilterDw, kFilterX, kFilterDy};
  case kOperationGraph:
    return {kGraphHandle, kGraphOperations};
  case kEngineHeuristics:
    return {kHeuristicsGraph, kHeuristicsMode};
  case kExecutionPlan:
    return {kPlanHandle, kPlanConfig};
  case kVariantPack:
    return {kPackIds, kPackPointers, kPackWorkspace};
  case kOperationMatmul:
    return {kOperationMatmulDescriptor, kOperationMatmulA, kOperationMatmulB, kOperationMatmulC};
  case kOperationReduction:
    return {kOperationReductionDescriptor, kOperationReductionX, kOperationReductionY};
  case kOperationReshape:
    return {kOperationReshapeX, kOperationReshapeY};
  case kOperationPointwise:
    return {kOperationPointwiseDescriptor, kOperationPointwiseX, kOperationPointwiseY};
  default:
    return {};
  }
}

int setAttribute(DescriptorRef d, int attribute, int type, int64_t count, const void *values) {
  if (at(d).isFinal)
    the().fault("sets an attribute of a finalized descriptor");
  const char *bytes = static_cast<const char *>(values);
  at(d).attributes[attribute] = {type, count, {bytes, bytes + count * sizeOfType(type)}};
  return kSuccess;
}

int finalize(DescriptorRef d) {
  for (int attribute : requiredBy(at(d).type))
    if (!at(d).attributes.contains(attribute)) {
      the().fault(concat("finalizes a descriptor without attribute ", attribute));
      return kBadParameter;
    }
  for (const auto &[attribute, value] : at(d).attributes)
    if (value.type == kTypeDescriptor)
      for (DescriptorRef part : at(d).all<DescriptorRef>(attribute))
        if (!at(part).isFinal)
          the().fault(concat("uses an unfinished descriptor as attribute ", attribute));
  at(d).isFinal = true;
  if (at(d).type == kExecutionPlan)
    the().count("an execution plan of cuDNN");
  return kSuccess;
}

void setNote(Descriptor &engine, int note) {
  const char *bytes = reinterpret_cast<const char *>(&note);
  engine.attributes[kEngineNumericalNote] = {kTypeNumericalNote, 1, {bytes, bytes + sizeof note}};
}

int getAttribute(DescriptorRef d, int attribute, int, int64_t wanted, int64_t *count,
                 void *values) {
  *count = 0;
  if (attribute == kHeuristicsResults) { // two engines, which remember the graph
    *count = 2;
    for (int64_t i = 0; i < wanted; ++i) {
      Descriptor &config = at(static_cast<DescriptorRef *>(values)[i]);
      config.attributes[kHeuristicsGraph] = at(d).attributes[kHeuristicsGraph];
      if (i == 0) // the faster one
        setNote(config, kNoteTensorCore);
      config.isFinal = true;
    }
  } else if (attribute == kConfigEngine) {
    *count = 1;
    Descriptor &engine = at(*static_cast<DescriptorRef *>(values));
    if (at(d).attributes.contains(kEngineNumericalNote))
      engine.attributes[kEngineNumericalNote] = at(d).attributes[kEngineNumericalNote];
  } else if (attribute == kEngineNumericalNote) {
    const std::vector<int> notes = at(d).all<int>(attribute);
    *count = int64_t(notes.size());
    std::ranges::copy(notes, static_cast<int *>(values));
  } else if (attribute == kPlanWorkspaceBytes) {
    *count = 1;
    *static_cast<int64_t *>(values) = kWorkspaceBytes;
  } else {
    the().fault(concat("reads attribute ", attribute));
  }
  return kSuccess;
}

int64_t bytesOf(const Descriptor &tensor) {
  std::vector<int64_t> dims = tensor.all<int64_t>(kTensorDims);
  std::vector<int64_t> strides = tensor.all<int64_t>(kTensorStrides);
  int64_t last = 0;
  for (size_t i = 0; i < dims.size(); ++i)
    last += (dims[i] - 1) * strides[i];
  switch (tensor.one<int>(kTensorDataType)) {
  case kF64:
  case kI64:
    return 8 * (last + 1);
  case kF32:
  case kI32:
    return 4 * (last + 1);
  case kBool:
    return last + 1;
  default:
    return 2 * (last + 1);
  }
}

// Which attribute of an operation is written.
bool isResult(int attribute) {
  return attribute == kForwardY || attribute == kDataDx || attribute == kFilterDw ||
         attribute == kOperationPointwiseY || attribute == kOperationMatmulC ||
         attribute == kOperationReductionY || attribute == kOperationReshapeY;
}

int execute(Handle handle, DescriptorRef plan, DescriptorRef pack) {
  the().count("cudnnBackendExecute");
  std::vector<int64_t> ids = at(pack).all<int64_t>(kPackIds);
  std::vector<void *> pointers = at(pack).all<void *>(kPackPointers);
  the().checkWorkspace(at(pack).one<void *>(kPackWorkspace));
  std::map<int64_t, void *> addresses;
  for (size_t i = 0; i < ids.size(); ++i)
    addresses[ids[i]] = pointers[i];
  const Descriptor &config = at(at(plan).one<DescriptorRef>(kPlanConfig));
  if (config.attributes.contains(kEngineNumericalNote))
    the().count("on tensor cores");
  const Descriptor &graph = at(config.one<DescriptorRef>(kHeuristicsGraph));
  DeviceOperation operation{"a graph of cuDNN", {}, {}};
  for (DescriptorRef one : graph.all<DescriptorRef>(kGraphOperations))
    for (const auto &[attribute, value] : at(one).attributes) {
      if (value.type != kTypeDescriptor)
        continue;
      const Descriptor &tensor = at(at(one).one<DescriptorRef>(attribute));
      if (tensor.type != kTensor || tensor.one<char>(kTensorIsVirtual))
        continue;
      void *address = addresses[tensor.one<int64_t>(kTensorId)];
      if (!address)
        the().fault("a tensor of a graph has no address");
      else if (!tensor.one<char>(kTensorIsByValue))
        operation.accesses.push_back({address, uint64_t(bytesOf(tensor)), isResult(attribute)});
    }
  Recorder &recorder = the();
  if (canEvaluate(graph))
    operation.run = [&recorder, &graph, addresses] {
      evaluate(graph, [&](int64_t id) {
        return recorder.viewOf(reinterpret_cast<uint64_t>(addresses.at(id)));
      });
    };
  recorder.enqueue(reinterpret_cast<HandleFacts *>(handle)->stream, std::move(operation));
  return kSuccess;
}

} // namespace

const DnnTable &recordingDnn() {
  static const DnnTable table{
      .getVersion = [] { return size_t(91900); },
      .getErrorString = [](int) { return "a test"; },
      .getLastErrorString = [](char *text, size_t) { *text = 0; },
      .create = [](Handle *h) { return *h = reinterpret_cast<Handle>(new HandleFacts), 0; },
      .destroy = [](Handle h) { return delete reinterpret_cast<HandleFacts *>(h), 0; },
      .setStream =
          [](Handle h, device::driver::Stream stream) {
            reinterpret_cast<HandleFacts *>(h)->stream = stream;
            return 0;
          },
      .createDescriptor =
          [](int type, DescriptorRef *d) {
            *d = new Descriptor{type};
            return 0;
          },
      .destroyDescriptor = [](DescriptorRef d) { return delete &at(d), 0; },
      .finalize = finalize,
      .setAttribute = setAttribute,
      .getAttribute = getAttribute,
      .execute = execute};
  return table;
}

} // namespace cleave::test
