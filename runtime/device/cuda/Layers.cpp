// Convolution and attention by cuDNN. See Parts.h; AttentionGraph.h has the graphs of attention.
#include "runtime/base/Concat.h"
#include "runtime/device/cuda/AttentionGraph.h"
#include "runtime/device/cuda/Parts.h"

namespace cleave::device {
namespace {

using Tensor = DnnGraph::Tensor;

class BoundGraph : public Action {
public:
  BoundGraph(std::shared_ptr<DnnGraph> graph, DnnGraph::Binding binding)
      : graph_(std::move(graph)), binding_(binding) {}
  Status run() override { return graph_->run(binding_); }

private:
  std::shared_ptr<DnnGraph> graph_;
  DnnGraph::Binding binding_;
};

Result<int> dnnType(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return dnn::kF32;
  case DType::F64:
    return dnn::kF64;
  case DType::F16:
    return dnn::kF16;
  case DType::BF16:
    return dnn::kBF16;
  default:
    return Status::userError("cuDNN has no engines for ", name(dtype));
  }
}

// -- convolution ----------------------------------------------------------------------------------

// cuDNN convolves in two or three dims: one dim gets another of size 1 before it.
template <typename List> std::vector<int64_t> spatial(const List &list, int64_t fill) {
  std::vector<int64_t> values(list.begin(), list.end());
  if (values.size() == 1)
    values.insert(values.begin(), fill);
  return values;
}

// A dense tensor, row-major or with its second dim innermost in memory.
template <typename List> DnnGraph::Layout denseLayout(const List &shape, bool channelsLast) {
  DnnGraph::Layout layout{{shape.begin(), shape.end()}, {}};
  if (layout.dims.size() == 3)
    layout.dims.insert(layout.dims.begin() + 2, 1);
  layout.strides.resize(layout.dims.size(), 1);
  int64_t stride = channelsLast ? layout.dims[1] : 1;
  for (size_t i = layout.dims.size(); i-- > 0;)
    if (i != 1 || !channelsLast) {
      layout.strides[i] = stride;
      stride *= layout.dims[i];
    }
  return layout;
}

int operationOf(plan::Convolution::Kind kind) {
  return kind == plan::Convolution::FORWARD          ? dnn::kConvolutionForward
         : kind == plan::Convolution::INPUT_GRADIENT ? dnn::kConvolutionBackwardData
                                                     : dnn::kConvolutionBackwardFilter;
}

// The places of the addresses.
enum ConvolutionPlace : size_t { kInput, kWeight, kOutput };

Status addConvolution(DnnGraph &graph, const plan::Convolution &c,
                      const ConvolutionOperands &operands) {
  CLEAVE_TRY_ASSIGN(int read, dnnType(operands.dtype));
  CLEAVE_TRY_ASSIGN(int written, dnnType(operands.resultDtype));
  auto inMemory = [&](const auto &shape, plan::Convolution::Kind writes, auto place) {
    return graph.inMemory(denseLayout(shape, c.channels_last()),
                          c.kind() == writes ? written : read, place);
  };
  CLEAVE_TRY_ASSIGN(Tensor x, inMemory(c.input_shape(), plan::Convolution::INPUT_GRADIENT, kInput));
  CLEAVE_TRY_ASSIGN(Tensor w,
                    inMemory(c.weight_shape(), plan::Convolution::WEIGHT_GRADIENT, kWeight));
  CLEAVE_TRY_ASSIGN(Tensor y, inMemory(c.output_shape(), plan::Convolution::FORWARD, kOutput));
  DnnGraph::Convolution convolution{.type = operationOf(c.kind()),
                                    .spatialDims = std::max(2, c.strides_size()),
                                    .strides = spatial(c.strides(), 1),
                                    .dilations = spatial(c.dilations(), 1),
                                    .padsLow = spatial(c.pads_low(), 0),
                                    .padsHigh = spatial(c.pads_high(), 0)};
  return graph.convolve(convolution, x, w, y, operands.dtype == DType::F64);
}

template <typename List> bool hasElements(const List &shape) {
  for (int64_t size : shape)
    if (size == 0)
      return false;
  return true;
}

// -- keys of finished graphs ----------------------------------------------------------------------

// The instruction without its buffers.
std::string keyOf(plan::Convolution convolution) {
  convolution.clear_input(), convolution.clear_weight(), convolution.clear_output();
  convolution.clear_workspace();
  return "convolution " + convolution.SerializeAsString();
}

std::string keyOf(plan::Attention a) {
  for (plan::StridedOperand *operand :
       {a.mutable_query(), a.mutable_key(), a.mutable_value(), a.mutable_result(), a.mutable_lse()})
    operand->clear_buffer(), operand->clear_offset();
  if (a.has_grad())
    for (plan::StridedOperand *operand :
         {a.mutable_grad(), a.mutable_query_grad(), a.mutable_key_grad(), a.mutable_value_grad()})
      operand->clear_buffer(), operand->clear_offset();
  a.clear_workspace();
  return "attention " + a.SerializeAsString();
}

} // namespace

// -- the layers -----------------------------------------------------------------------------------

DnnLayers::~DnnLayers() {
  graphs_.clear();
  for (dnn::Handle handle : handles_)
    if (handle)
      table_->destroy(handle);
}

Status DnnLayers::open() {
  dnn::Handle &handle = handles_[context_.queue];
  if (handle)
    return Status::ok();
  CLEAVE_TRY_ASSIGN(table_, load_());
  if (int status = table_->create(&handle))
    return Status::defect("cuDNN does not start: ", table_->getErrorString(status));
  int status = table_->setStream(handle, context_.stream());
  return status == dnn::kSuccess
             ? Status::ok()
             : Status::defect("cuDNN does not take a stream: ", table_->getErrorString(status));
}

PreparedAction DnnLayers::bound(std::string key, const DnnGraph::Addresses &addresses,
                                Workspace workspace, const Build &build) {
  key += concat(" queue ", int(context_.queue), " workspace ", workspace.bytes);
  for (const void *address : addresses)
    key += concat(" ", DnnGraph::alignmentOf(address));
  std::shared_ptr<DnnGraph> &graph = graphs_[key];
  if (!graph) {
    auto made = std::make_shared<DnnGraph>(*table_, handles_[context_.queue], addresses);
    CLEAVE_TRY(build(*made));
    graph = std::move(made);
  }
  CLEAVE_TRY_ASSIGN(DnnGraph::Binding binding, graph->bind(addresses, workspace.address));
  return PreparedAction(std::make_unique<BoundGraph>(graph, binding));
}

PreparedAction DnnLayers::convolution(const plan::Convolution &convolution,
                                      const ConvolutionOperands &operands) {
  const auto &written =
      convolution.kind() == plan::Convolution::FORWARD          ? convolution.output_shape()
      : convolution.kind() == plan::Convolution::INPUT_GRADIENT ? convolution.input_shape()
                                                                : convolution.weight_shape();
  if (!hasElements(written))
    return PreparedAction(std::make_unique<NoAction>());
  CLEAVE_TRY(open());
  const bool keepsBits = operands.dtype == DType::F32 && !convolution.tf32();
  std::string key =
      concat(keyOf(convolution), " ", name(operands.dtype), " ", name(operands.resultDtype));
  PreparedAction action = bound(std::move(key), {operands.input, operands.weight, operands.output},
                                operands.workspace, [&](DnnGraph &graph) -> Status {
                                  CLEAVE_TRY(addConvolution(graph, convolution, operands));
                                  return graph.finish(operands.workspace.bytes, keepsBits);
                                });
  return action ? std::move(action)
                : Status::userError(action.status().message(),
                                    "; compile the model with --direct-convolution, which needs no "
                                    "cuDNN for convolutions");
}

PreparedAction DnnLayers::attention(const plan::Attention &attention,
                                    const AttentionOperands &operands) {
  constexpr const char *kRemedy =
      "; compile the model with --direct-attention, which needs no cuDNN for attention";
  CLEAVE_TRY(open());
  if (std::string why = attentionRefusal(attention, operands.dtype, table_->getVersion());
      !why.empty())
    return Status::userError("cuDNN cannot run it: ", why, kRemedy);
  CLEAVE_TRY_ASSIGN(int type, dnnType(operands.dtype));
  // The first bytes of the workspace are a tensor of the graph; cuDNN gets the others.
  const uint64_t first = attentionGraphBytes(attention);
  if (first > operands.workspace.bytes)
    return Status::userError("cuDNN cannot run it: its workspace has ", operands.workspace.bytes,
                             " bytes, expected at least ", first, kRemedy);
  const Workspace rest = operands.workspace.bytes == first
                             ? Workspace{}
                             : Workspace{static_cast<char *>(operands.workspace.address) + first,
                                         operands.workspace.bytes - first};
  PreparedAction action =
      bound(concat(keyOf(attention), " ", name(operands.dtype)),
            attentionAddresses(attention, operands), rest, [&](DnnGraph &graph) -> Status {
              CLEAVE_TRY(buildAttention(graph, attention, type));
              return graph.finish(rest.bytes, /*keepsBits=*/false);
            });
  return action ? std::move(action) : Status::userError(action.status().message(), kRemedy);
}

} // namespace cleave::device
