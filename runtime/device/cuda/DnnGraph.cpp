// See DnnGraph.h.
#include "runtime/device/cuda/DnnGraph.h"

#include <algorithm>
#include <array>

namespace cleave::device {
namespace {

// The strides of a dense tensor.
std::vector<int64_t> denseStrides(const std::vector<int64_t> &dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i])
    strides[i] = stride;
  return strides;
}

} // namespace

int64_t DnnGraph::alignmentOf(const void *address) {
  const uint64_t bits = uint64_t(reinterpret_cast<uintptr_t>(address)) | 16;
  return int64_t(bits & (~bits + 1));
}

DnnGraph::DnnGraph(const dnn::DnnTable &table, dnn::Handle handle, const Addresses &addresses)
    : table_(table), handle_(handle) {
  for (const void *address : addresses)
    alignments_.push_back(alignmentOf(address));
}

DnnGraph::~DnnGraph() {
  std::for_each(owned_.rbegin(), owned_.rend(), [&](auto d) { table_.destroyDescriptor(d); });
}

// -- descriptors ----------------------------------------------------------------------------------

Status DnnGraph::check(int status, const char *what) const {
  if (status == dnn::kSuccess)
    return Status::ok();
  char reason[512] = "";
  table_.getLastErrorString(reason, sizeof reason);
  return Status::userError("cuDNN refuses ", what, ": ", table_.getErrorString(status),
                           *reason ? ", " : "", reason);
}

Result<dnn::DescriptorRef> DnnGraph::create(int type) {
  dnn::DescriptorRef descriptor = nullptr;
  CLEAVE_TRY(check(table_.createDescriptor(type, &descriptor), "a descriptor"));
  owned_.push_back(descriptor);
  return descriptor;
}

Status DnnGraph::set(dnn::DescriptorRef descriptor, int attribute, int type, int64_t count,
                     const void *values) {
  int status = table_.setAttribute(descriptor, attribute, type, count, values);
  return status == dnn::kSuccess ? Status::ok()
                                 : check(status, concat("attribute ", attribute).c_str());
}

Status DnnGraph::finalize(dnn::DescriptorRef descriptor) {
  return check(table_.finalize(descriptor), "the operation");
}

// -- tensors --------------------------------------------------------------------------------------

Result<DnnGraph::Tensor> DnnGraph::addTensor(const Layout &layout, int type,
                                             std::optional<size_t> place,
                                             std::optional<size_t> scalar) {
  CLEAVE_TRY_ASSIGN(dnn::DescriptorRef descriptor, create(dnn::kTensor));
  int64_t id = int64_t(tensors_.size()) + 1;
  int64_t alignment = place ? alignments_[*place] : 16;
  const bool isVirtual = !place && !scalar, isByValue = scalar.has_value();
  CLEAVE_TRY(set(descriptor, dnn::kTensorDataType, dnn::kTypeDataType, type));
  CLEAVE_TRY(setAll(descriptor, dnn::kTensorDims, layout.dims));
  CLEAVE_TRY(setAll(descriptor, dnn::kTensorStrides, layout.strides));
  CLEAVE_TRY(set(descriptor, dnn::kTensorId, dnn::kTypeInt64, id));
  CLEAVE_TRY(set(descriptor, dnn::kTensorAlignment, dnn::kTypeInt64, alignment));
  CLEAVE_TRY(set(descriptor, dnn::kTensorIsVirtual, dnn::kTypeBoolean, isVirtual));
  if (isByValue)
    CLEAVE_TRY(set(descriptor, dnn::kTensorIsByValue, dnn::kTypeBoolean, isByValue));
  CLEAVE_TRY(finalize(descriptor));
  tensors_.push_back({descriptor, layout.dims, place, scalar});
  return tensors_.size() - 1;
}

Result<DnnGraph::Tensor> DnnGraph::inMemory(const Layout &layout, int type, size_t place) {
  return addTensor(layout, type, place, std::nullopt);
}

Result<DnnGraph::Tensor> DnnGraph::inside(const Layout &layout, int type) {
  return addTensor(layout, type, std::nullopt, std::nullopt);
}

Result<DnnGraph::Tensor> DnnGraph::inside(const std::vector<int64_t> &dims, int type) {
  return inside(Layout{dims, denseStrides(dims)}, type);
}

Result<DnnGraph::Tensor> DnnGraph::scalar(float value) {
  Layout layout{{1, 1, 1, 1}, {1, 1, 1, 1}};
  scalars_.push_back(value);
  return addTensor(layout, dnn::kF32, std::nullopt, scalars_.size() - 1);
}

// -- operations -----------------------------------------------------------------------------------

Status DnnGraph::addPointwise(int mode, std::initializer_list<Tensor> inputs, Tensor y,
                              int64_t axis) {
  CLEAVE_TRY_ASSIGN(dnn::DescriptorRef how, create(dnn::kPointwise));
  int precision = dnn::kF32;
  CLEAVE_TRY(set(how, dnn::kPointwiseMode, dnn::kTypePointwiseMode, mode));
  CLEAVE_TRY(set(how, dnn::kPointwisePrecision, dnn::kTypeDataType, precision));
  if (mode == dnn::kGenIndex)
    CLEAVE_TRY(set(how, dnn::kPointwiseAxis, dnn::kTypeInt64, axis));
  CLEAVE_TRY(finalize(how));
  CLEAVE_TRY_ASSIGN(dnn::DescriptorRef operation, create(dnn::kOperationPointwise));
  CLEAVE_TRY(set(operation, dnn::kOperationPointwiseDescriptor, dnn::kTypeDescriptor, how));
  constexpr int places[] = {dnn::kOperationPointwiseX, dnn::kOperationPointwiseB,
                            dnn::kOperationPointwiseT};
  size_t place = 0;
  for (Tensor input : inputs)
    CLEAVE_TRY(setTensor(operation, places[place++], input));
  CLEAVE_TRY(setTensor(operation, dnn::kOperationPointwiseY, y));
  CLEAVE_TRY(finalize(operation));
  operations_.push_back(operation);
  return Status::ok();
}

Status DnnGraph::pointwiseTo(int mode, std::initializer_list<Tensor> inputs, Tensor y) {
  return addPointwise(mode, inputs, y, 0);
}

Result<DnnGraph::Tensor> DnnGraph::pointwise(int mode, Tensor x) {
  CLEAVE_TRY_ASSIGN(Tensor y, inside(tensors_[x].dims, dnn::kF32));
  CLEAVE_TRY(addPointwise(mode, {x}, y, 0));
  return y;
}

Result<DnnGraph::Tensor> DnnGraph::pointwise(int mode, Tensor x, Tensor b) {
  CLEAVE_TRY_ASSIGN(Tensor y, inside(tensors_[x].dims, dnn::kF32));
  CLEAVE_TRY(addPointwise(mode, {x, b}, y, 0));
  return y;
}

Result<DnnGraph::Tensor> DnnGraph::genIndex(int64_t axis, Tensor like) {
  CLEAVE_TRY_ASSIGN(Tensor y, inside(tensors_[like].dims, dnn::kI32));
  CLEAVE_TRY(addPointwise(dnn::kGenIndex, {like}, y, axis));
  return y;
}

Result<DnnGraph::Tensor> DnnGraph::reduction(int op, Tensor x, const std::vector<int64_t> &dims) {
  CLEAVE_TRY_ASSIGN(Tensor y, inside(dims, dnn::kF32));
  CLEAVE_TRY(reductionTo(op, x, y));
  return y;
}

Status DnnGraph::reductionTo(int op, Tensor x, Tensor y) {
  CLEAVE_TRY_ASSIGN(dnn::DescriptorRef how, create(dnn::kReduction));
  int precision = dnn::kF32;
  CLEAVE_TRY(set(how, dnn::kReductionOperator, dnn::kTypeReductionOperator, op));
  CLEAVE_TRY(set(how, dnn::kReductionType, dnn::kTypeDataType, precision));
  CLEAVE_TRY(finalize(how));
  CLEAVE_TRY_ASSIGN(dnn::DescriptorRef operation, create(dnn::kOperationReduction));
  CLEAVE_TRY(set(operation, dnn::kOperationReductionDescriptor, dnn::kTypeDescriptor, how));
  CLEAVE_TRY(setTensor(operation, dnn::kOperationReductionX, x));
  CLEAVE_TRY(setTensor(operation, dnn::kOperationReductionY, y));
  CLEAVE_TRY(finalize(operation));
  operations_.push_back(operation);
  return Status::ok();
}

Status DnnGraph::reshapeTo(Tensor x, Tensor y) {
  CLEAVE_TRY_ASSIGN(dnn::DescriptorRef operation, create(dnn::kOperationReshape));
  CLEAVE_TRY(setTensor(operation, dnn::kOperationReshapeX, x));
  CLEAVE_TRY(setTensor(operation, dnn::kOperationReshapeY, y));
  CLEAVE_TRY(finalize(operation));
  operations_.push_back(operation);
  return Status::ok();
}

Status DnnGraph::matmulTo(Tensor a, Tensor b, Tensor c) {
  CLEAVE_TRY_ASSIGN(dnn::DescriptorRef how, create(dnn::kMatmul));
  int precision = dnn::kF32;
  CLEAVE_TRY(set(how, dnn::kMatmulType, dnn::kTypeDataType, precision));
  CLEAVE_TRY(finalize(how));
  CLEAVE_TRY_ASSIGN(dnn::DescriptorRef operation, create(dnn::kOperationMatmul));
  CLEAVE_TRY(set(operation, dnn::kOperationMatmulDescriptor, dnn::kTypeDescriptor, how));
  CLEAVE_TRY(setTensor(operation, dnn::kOperationMatmulA, a));
  CLEAVE_TRY(setTensor(operation, dnn::kOperationMatmulB, b));
  CLEAVE_TRY(setTensor(operation, dnn::kOperationMatmulC, c));
  CLEAVE_TRY(finalize(operation));
  operations_.push_back(operation);
  return Status::ok();
}

Status DnnGraph::convolve(const Convolution &c, Tensor x, Tensor w, Tensor y, bool isDouble) {
  CLEAVE_TRY_ASSIGN(dnn::DescriptorRef how, create(dnn::kConvolution));
  int precision = isDouble ? dnn::kF64 : dnn::kF32, mode = dnn::kCrossCorrelation;
  CLEAVE_TRY(set(how, dnn::kConvolutionType, dnn::kTypeDataType, precision));
  CLEAVE_TRY(set(how, dnn::kConvolutionMode, dnn::kTypeConvolutionMode, mode));
  CLEAVE_TRY(set(how, dnn::kConvolutionSpatialDims, dnn::kTypeInt64, c.spatialDims));
  CLEAVE_TRY(setAll(how, dnn::kConvolutionStrides, c.strides));
  CLEAVE_TRY(setAll(how, dnn::kConvolutionDilations, c.dilations));
  CLEAVE_TRY(setAll(how, dnn::kConvolutionPrePaddings, c.padsLow));
  CLEAVE_TRY(setAll(how, dnn::kConvolutionPostPaddings, c.padsHigh));
  CLEAVE_TRY(finalize(how));
  // alpha, beta, convolution, w, x, y of each operation
  constexpr int forward[] = {dnn::kForwardAlpha, dnn::kForwardBeta, dnn::kForwardConvolution,
                             dnn::kForwardW,     dnn::kForwardX,    dnn::kForwardY};
  constexpr int data[] = {dnn::kDataAlpha, dnn::kDataBeta, dnn::kDataConvolution,
                          dnn::kDataW,     dnn::kDataDx,   dnn::kDataDy};
  constexpr int filter[] = {dnn::kFilterAlpha, dnn::kFilterBeta, dnn::kFilterConvolution,
                            dnn::kFilterDw,    dnn::kFilterX,    dnn::kFilterDy};
  const int *places = c.type == dnn::kConvolutionForward        ? forward
                      : c.type == dnn::kConvolutionBackwardData ? data
                                                                : filter;
  CLEAVE_TRY_ASSIGN(dnn::DescriptorRef operation, create(c.type));
  float alpha = 1, beta = 0;
  double alphaDouble = 1, betaDouble = 0;
  int scale = isDouble ? dnn::kTypeDouble : dnn::kTypeFloat;
  auto either = [&](const float &narrow, const double &wide) {
    return isDouble ? static_cast<const void *>(&wide) : static_cast<const void *>(&narrow);
  };
  CLEAVE_TRY(set(operation, places[0], scale, 1, either(alpha, alphaDouble)));
  CLEAVE_TRY(set(operation, places[1], scale, 1, either(beta, betaDouble)));
  CLEAVE_TRY(set(operation, places[2], dnn::kTypeDescriptor, how));
  CLEAVE_TRY(setTensor(operation, places[3], w));
  CLEAVE_TRY(setTensor(operation, places[4], x));
  CLEAVE_TRY(setTensor(operation, places[5], y));
  CLEAVE_TRY(finalize(operation));
  operations_.push_back(operation);
  return Status::ok();
}

// -- the engine -----------------------------------------------------------------------------------

Result<std::vector<dnn::DescriptorRef>> DnnGraph::configs(dnn::DescriptorRef graph, int mode) {
  CLEAVE_TRY_ASSIGN(dnn::DescriptorRef heuristics, create(dnn::kEngineHeuristics));
  CLEAVE_TRY(set(heuristics, dnn::kHeuristicsGraph, dnn::kTypeDescriptor, graph));
  CLEAVE_TRY(set(heuristics, dnn::kHeuristicsMode, dnn::kTypeHeurMode, mode));
  CLEAVE_TRY(check(table_.finalize(heuristics), "to propose engines"));
  int64_t count = 0;
  CLEAVE_TRY(check(table_.getAttribute(heuristics, dnn::kHeuristicsResults, dnn::kTypeDescriptor, 0,
                                       &count, nullptr),
                   "to count engines"));
  std::vector<dnn::DescriptorRef> configs;
  for (int64_t i = 0; i < count; ++i) {
    CLEAVE_TRY_ASSIGN(dnn::DescriptorRef config, create(dnn::kEngineConfig));
    configs.push_back(config);
  }
  CLEAVE_TRY(check(table_.getAttribute(heuristics, dnn::kHeuristicsResults, dnn::kTypeDescriptor,
                                       count, &count, configs.data()),
                   "to list engines"));
  configs.resize(size_t(count));
  return configs;
}

Result<bool> DnnGraph::isAllowed(dnn::DescriptorRef config, bool keepsBits) {
  CLEAVE_TRY_ASSIGN(dnn::DescriptorRef engine, create(dnn::kEngine));
  int64_t count = 0;
  CLEAVE_TRY(check(
      table_.getAttribute(config, dnn::kConfigEngine, dnn::kTypeDescriptor, 1, &count, &engine),
      "to name an engine"));
  std::array<int, dnn::kNoteCount> notes{};
  CLEAVE_TRY(check(table_.getAttribute(engine, dnn::kEngineNumericalNote, dnn::kTypeNumericalNote,
                                       dnn::kNoteCount, &count, notes.data()),
                   "to describe an engine"));
  return std::none_of(notes.begin(), notes.begin() + count, [&](int note) {
    return note == dnn::kNoteDownConvert || note == dnn::kNoteReducedReduction ||
           note == dnn::kNoteNondeterministic || (keepsBits && note == dnn::kNoteTensorCore);
  });
}

// Whether the engine can run the graph with such a workspace; then it is the graph's.
Result<bool> DnnGraph::takePlan(dnn::DescriptorRef config, uint64_t workspaceBytes) {
  CLEAVE_TRY_ASSIGN(dnn::DescriptorRef plan, create(dnn::kExecutionPlan));
  CLEAVE_TRY(set(plan, dnn::kPlanHandle, dnn::kTypeHandle, handle_));
  CLEAVE_TRY(set(plan, dnn::kPlanConfig, dnn::kTypeDescriptor, config));
  if (Status status = check(table_.finalize(plan), "an engine"); !status) {
    refusal_ = status.message();
    return false;
  }
  int64_t bytes = 0, count = 0;
  CLEAVE_TRY(
      check(table_.getAttribute(plan, dnn::kPlanWorkspaceBytes, dnn::kTypeInt64, 1, &count, &bytes),
            "to size a workspace"));
  if (uint64_t(std::max<int64_t>(0, bytes)) > workspaceBytes) {
    refusal_ =
        concat("its engine needs ", bytes, " bytes of workspace, the plan has ", workspaceBytes);
    return false;
  }
  plan_ = plan;
  return true;
}

Status DnnGraph::finish(uint64_t workspaceBytes, bool keepsBits) {
  CLEAVE_TRY_ASSIGN(dnn::DescriptorRef graph, create(dnn::kOperationGraph));
  CLEAVE_TRY(set(graph, dnn::kGraphHandle, dnn::kTypeHandle, handle_));
  CLEAVE_TRY(set(graph, dnn::kGraphOperations, dnn::kTypeDescriptor, int64_t(operations_.size()),
                 operations_.data()));
  CLEAVE_TRY(check(table_.finalize(graph), "the graph of operations"));
  refusal_ = "it has no deterministic engine that keeps the precision";
  for (int mode : {dnn::kHeurA, dnn::kHeurFallback}) {
    Result<std::vector<dnn::DescriptorRef>> found = configs(graph, mode);
    if (!found) {
      refusal_ = found.status().message();
      continue;
    }
    for (dnn::DescriptorRef config : *found) {
      CLEAVE_TRY_ASSIGN(bool allowed, isAllowed(config, keepsBits));
      if (!allowed)
        continue;
      CLEAVE_TRY_ASSIGN(bool taken, takePlan(config, workspaceBytes));
      if (taken)
        return Status::ok();
    }
  }
  return Status::userError("cuDNN cannot run it: ", refusal_);
}

Result<DnnGraph::Binding> DnnGraph::bind(const Addresses &addresses, void *workspace) {
  std::vector<int64_t> ids;
  std::vector<void *> pointers;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const TensorFacts &tensor = tensors_[i];
    if (!tensor.place && !tensor.scalar)
      continue;
    ids.push_back(int64_t(i) + 1);
    pointers.push_back(tensor.place ? addresses[*tensor.place] : &scalars_[*tensor.scalar]);
  }
  CLEAVE_TRY_ASSIGN(Binding binding, create(dnn::kVariantPack));
  CLEAVE_TRY(setAll(binding, dnn::kPackIds, ids));
  CLEAVE_TRY(set(binding, dnn::kPackPointers, dnn::kTypeVoidPtr, int64_t(pointers.size()),
                 pointers.data()));
  CLEAVE_TRY(set(binding, dnn::kPackWorkspace, dnn::kTypeVoidPtr, workspace));
  CLEAVE_TRY(check(table_.finalize(binding), "the addresses"));
  return binding;
}

Status DnnGraph::run(Binding binding) {
  int status = table_.execute(handle_, plan_, binding);
  return status == dnn::kSuccess ? Status::ok()
                                 : Status::defect("cuDNN failed: ", table_.getErrorString(status),
                                                  "; an earlier instruction may be the cause; set "
                                                  "CLEAVE_CHECK_KERNELS=wait to find it");
}

} // namespace cleave::device
