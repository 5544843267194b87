// Convolution and attention by cuDNN. See Parts.h.
#include "runtime/device/cuda/DnnGraph.h"
#include "runtime/device/cuda/Parts.h"

#include <cmath>
#include <limits>

namespace cleave::device {
namespace {

using Tensor = DnnGraph::Tensor;

class GraphOfOperations : public Action {
public:
  GraphOfOperations(const dnn::DnnTable &table, dnn::Handle handle) : graph(table, handle) {}
  Status run() override { return graph.run(); }
  DnnGraph graph;
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

Status addConvolution(DnnGraph &graph, const plan::Convolution &c,
                      const ConvolutionOperands &operands) {
  CLEAVE_TRY_ASSIGN(int read, dnnType(operands.dtype));
  CLEAVE_TRY_ASSIGN(int written, dnnType(operands.resultDtype));
  auto inMemory = [&](const auto &shape, plan::Convolution::Kind writes, void *address) {
    return graph.inMemory(denseLayout(shape, c.channels_last()),
                          c.kind() == writes ? written : read, address);
  };
  CLEAVE_TRY_ASSIGN(Tensor x,
                    inMemory(c.input_shape(), plan::Convolution::INPUT_GRADIENT, operands.input));
  CLEAVE_TRY_ASSIGN(
      Tensor w, inMemory(c.weight_shape(), plan::Convolution::WEIGHT_GRADIENT, operands.weight));
  CLEAVE_TRY_ASSIGN(Tensor y,
                    inMemory(c.output_shape(), plan::Convolution::FORWARD, operands.output));
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

// -- attention ------------------------------------------------------------------------------------

constexpr const char *kWayOut =
    "; compile the model with --decompose-attention, which needs no cuDNN for attention";

// Why cuDNN's attention cannot compute this instruction; empty if it can.
std::string refusalOf(const plan::Attention &a, DType dtype) {
  if (a.has_grad())
    return "its gradient is not built from cuDNN's operations";
  if (dtype != DType::BF16 && dtype != DType::F16)
    return concat("it has no engines for ", name(dtype), ", only for bf16 and f16");
  if (a.drop_rate() > 0)
    return "its random numbers of dropout differ from those of the plan";
  if (a.has_mask())
    return "a mask can hide all keys of a query, for which its result differs";
  if (a.causal() && a.offsets_size())
    return "the first query of a causal block is known at run time only";
  if (a.batch_size() > 1)
    return concat("it has one batch dim, the instruction ", a.batch_size());
  if (a.causal() && a.fill() > -1e4)
    return concat("hidden scores are ", a.fill(), ", expected a large negative number");
  return "";
}

// The layout of an operand as batch, heads, rows, columns.
DnnGraph::Layout layoutOf(const plan::Attention &a, const plan::StridedOperand &operand,
                          int64_t heads, int64_t rows, int64_t columns) {
  std::vector<int64_t> strides(operand.strides().begin(), operand.strides().end());
  if (a.batch_size() == 0)
    strides.insert(strides.begin(), strides.empty() ? 1 : strides[0] * heads);
  strides.resize(4, 1); // lse has no columns
  return {{a.batch_size() ? a.batch(0) : 1, heads, rows, columns}, strides};
}

void *startOf(void *buffer, const plan::StridedOperand &operand, DType dtype) {
  return static_cast<char *>(buffer) + operand.offset() * byteSize(dtype);
}

// The attention of AttentionOperands as a graph of operations, in the form that cuDNN recognises.
class AttentionGraph {
public:
  AttentionGraph(DnnGraph &graph, const plan::Attention &attention,
                 const AttentionOperands &operands, int type)
      : graph_(graph), a_(attention), operands_(operands), type_(type),
        scores_{a_.batch_size() ? a_.batch(0) : 1, a_.heads(), a_.queries(), a_.keys()},
        rows_{scores_[0], scores_[1], scores_[2], 1} {}

  Status build() {
    CLEAVE_TRY_ASSIGN(Tensor scores, scaledScores());
    CLEAVE_TRY_ASSIGN(scores, biased(scores));
    CLEAVE_TRY_ASSIGN(scores, hidden(scores));
    CLEAVE_TRY_ASSIGN(Tensor weights, softmax(scores));
    CLEAVE_TRY_ASSIGN(Tensor value,
                      operand(a_.value(), operands_.value, a_.groups(), a_.keys(), a_.depth()));
    CLEAVE_TRY_ASSIGN(Tensor result,
                      operand(a_.result(), operands_.result, a_.heads(), a_.queries(), a_.depth()));
    return graph_.matmulTo(weights, value, result);
  }

private:
  Result<Tensor> operand(const plan::StridedOperand &operand, void *buffer, int64_t heads,
                         int64_t rows, int64_t columns) {
    return graph_.inMemory(layoutOf(a_, operand, heads, rows, columns), type_,
                           startOf(buffer, operand, operands_.dtype));
  }

  Result<Tensor> scaledScores() {
    CLEAVE_TRY_ASSIGN(Tensor query,
                      operand(a_.query(), operands_.query, a_.heads(), a_.queries(), a_.width()));
    DnnGraph::Layout keys = layoutOf(a_, a_.key(), a_.groups(), a_.keys(), a_.width());
    std::swap(keys.dims[2], keys.dims[3]);
    std::swap(keys.strides[2], keys.strides[3]);
    CLEAVE_TRY_ASSIGN(
        Tensor key,
        graph_.inMemory(keys, type_, startOf(operands_.key, a_.key(), operands_.dtype)));
    CLEAVE_TRY_ASSIGN(Tensor product, graph_.inside(scores_, dnn::kF32));
    CLEAVE_TRY(graph_.matmulTo(query, key, product));
    CLEAVE_TRY_ASSIGN(Tensor scale, graph_.scalar(float(a_.scale())));
    return graph_.pointwise(dnn::kMul, product, scale);
  }

  Result<Tensor> biased(Tensor scores) {
    if (!a_.has_bias())
      return scores;
    // A stride of 0 repeats an element: the dim has size 1.
    DnnGraph::Layout layout = layoutOf(a_, a_.bias(), a_.heads(), a_.queries(), a_.keys());
    for (size_t i = 0; i < layout.dims.size(); ++i)
      if (layout.strides[i] == 0)
        layout.dims[i] = 1, layout.strides[i] = 1;
    CLEAVE_TRY_ASSIGN(int type, dnnType(operands_.biasDtype));
    CLEAVE_TRY_ASSIGN(
        Tensor bias,
        graph_.inMemory(layout, type, startOf(operands_.bias, a_.bias(), operands_.biasDtype)));
    return graph_.pointwise(dnn::kAdd, scores, bias);
  }

  // Scores of keys behind the query become the lowest number, whose weight is 0.
  Result<Tensor> hidden(Tensor scores) {
    if (!a_.causal())
      return scores;
    CLEAVE_TRY_ASSIGN(Tensor row, graph_.genIndex(2, scores));
    CLEAVE_TRY_ASSIGN(Tensor column, graph_.genIndex(3, scores));
    CLEAVE_TRY_ASSIGN(Tensor isVisible, graph_.inside(scores_, dnn::kBool));
    CLEAVE_TRY(graph_.pointwiseTo(dnn::kCompareGe, {row, column}, isVisible));
    CLEAVE_TRY_ASSIGN(Tensor fill, graph_.scalar(std::numeric_limits<float>::lowest()));
    CLEAVE_TRY_ASSIGN(Tensor result, graph_.inside(scores_, dnn::kF32));
    CLEAVE_TRY(graph_.pointwiseTo(dnn::kBinarySelect, {scores, fill, isVisible}, result));
    return result;
  }

  // The weights, and lse in memory.
  Result<Tensor> softmax(Tensor scores) {
    CLEAVE_TRY_ASSIGN(Tensor largest, graph_.reduction(dnn::kReduceMax, scores, rows_));
    CLEAVE_TRY_ASSIGN(Tensor difference, graph_.pointwise(dnn::kSub, scores, largest));
    CLEAVE_TRY_ASSIGN(Tensor power, graph_.pointwise(dnn::kExp, difference));
    CLEAVE_TRY_ASSIGN(Tensor sum, graph_.reduction(dnn::kReduceAdd, power, rows_));
    CLEAVE_TRY_ASSIGN(Tensor logarithm, graph_.pointwise(dnn::kLog, sum));
    CLEAVE_TRY_ASSIGN(Tensor lse,
                      graph_.inMemory(layoutOf(a_, a_.lse(), a_.heads(), a_.queries(), 1),
                                      dnn::kF32, startOf(operands_.lse, a_.lse(), DType::F32)));
    CLEAVE_TRY(graph_.pointwiseTo(dnn::kAdd, {largest, logarithm}, lse));
    CLEAVE_TRY_ASSIGN(Tensor weights, graph_.inside(scores_, type_));
    CLEAVE_TRY(graph_.pointwiseTo(dnn::kDiv, {power, sum}, weights));
    return weights;
  }

  DnnGraph &graph_;
  const plan::Attention &a_;
  const AttentionOperands &operands_;
  int type_;
  std::vector<int64_t> scores_, rows_; // shapes of the scores, and of one number per query
};

} // namespace

// -- the layers -----------------------------------------------------------------------------------

DnnLayers::~DnnLayers() {
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

PreparedAction DnnLayers::convolution(const plan::Convolution &convolution,
                                      const ConvolutionOperands &operands) {
  const auto &written =
      convolution.kind() == plan::Convolution::FORWARD          ? convolution.output_shape()
      : convolution.kind() == plan::Convolution::INPUT_GRADIENT ? convolution.input_shape()
                                                                : convolution.weight_shape();
  if (!hasElements(written))
    return PreparedAction(std::make_unique<NoAction>());
  CLEAVE_TRY(open());
  auto action = std::make_unique<GraphOfOperations>(*table_, handles_[context_.queue]);
  const bool keepsBits = operands.dtype == DType::F32 && !convolution.tf32();
  Status status = addConvolution(action->graph, convolution, operands);
  if (status)
    status = action->graph.finish(operands.workspace, keepsBits);
  return status ? PreparedAction(std::move(action))
                : Status::userError(status.message(),
                                    "; compile the model with --direct-convolution, which needs no "
                                    "cuDNN for convolutions");
}

PreparedAction DnnLayers::attention(const plan::Attention &attention,
                                    const AttentionOperands &operands) {
  if (std::string why = refusalOf(attention, operands.dtype); !why.empty())
    return Status::userError("cuDNN cannot run it: ", why, kWayOut);
  CLEAVE_TRY(open());
  CLEAVE_TRY_ASSIGN(int type, dnnType(operands.dtype));
  auto action = std::make_unique<GraphOfOperations>(*table_, handles_[context_.queue]);
  CLEAVE_TRY(AttentionGraph(action->graph, attention, operands, type).build());
  Status status = action->graph.finish(operands.workspace, /*keepsBits=*/false);
  return status ? PreparedAction(std::move(action)) : Status::userError(status.message(), kWayOut);
}

} // namespace cleave::device
