// See Work.h.
#include "runtime/artifact/Work.h"

#include "runtime/artifact/Access.h"
#include "runtime/artifact/KernelSignature.h"
#include "runtime/base/Collective.h"
#include "runtime/base/Concat.h"
#include "runtime/base/ConvolutionLowering.h"
#include "runtime/base/DType.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace cleave::artifact {

// The share of its scores that the instruction computes on the rank that computes the most: as the
// graph's ops count them (dialects/graph/AttentionRules.cpp), (2 k - q) / (2 k) for a causal mask
// on a block of q queries that see at most k keys.
static double causalShare(const plan::Attention &attention) {
  const int queriesDim = attention.batch_size() + 1;
  const bool isOneBlock = !attention.mirrored() && attention.offset_dims_size() > 0 &&
                          int(attention.offset_dims().rbegin()[0]) == queriesDim;
  const double queries = double(attention.queries()), keys = double(attention.keys()),
               larger = std::max(queries, keys);
  if (!attention.causal() || larger == 0)
    return 1;
  return isOneBlock ? 1 - std::min(queries, keys) / (2 * larger) : 0.5;
}

double slowestShare(const plan::Attention &attention) {
  return attention.causal() ? causalShare(attention) / 0.5 : 1;
}

// Two products of the scores' size, and five for the gradients; scaling, masking, softmax, bias and
// dropout, as the graph's ops count them.
static double attentionFlops(const plan::Attention &attention) {
  double scores =
      double(attention.heads()) * double(attention.queries()) * double(attention.keys());
  for (int64_t size : attention.batch())
    scores *= double(size);
  double width = double(attention.width()), depth = double(attention.depth());
  bool isGradient = attention.has_grad();
  double products = isGradient ? 6 * width + 4 * depth : 2 * (width + depth);
  int others = 6 + attention.has_bias() + (attention.drop_rate() > 0 ? 2 + isGradient : 0);
  return scores * (products + others + others % 2) * causalShare(attention);
}

static double convolutionFlops(const plan::Convolution &convolution) {
  // Every element of the output has one multiply-add per weight of its channel.
  double flops = 2.0;
  for (int64_t size : convolution.output_shape())
    flops *= double(size);
  for (int i = 1; i < convolution.weight_shape_size(); ++i)
    flops *= double(convolution.weight_shape(i));
  return flops;
}

// The elements of the columns to which a CPU's library lowers it; 0 if it does not.
static double columnsOf(const plan::Convolution &convolution) {
  auto plain = [](const auto &list) {
    return std::span<const int64_t>(list.data(), size_t(list.size()));
  };
  const ConvolutionForm form{.groups = convolution.groups(),
                             .inputs = convolution.weight_shape(1),
                             .outputs = convolution.weight_shape(0) / convolution.groups(),
                             .kernel = plain(convolution.weight_shape()).subspan(2),
                             .strides = plain(convolution.strides()),
                             .dilations = plain(convolution.dilations()),
                             .padsLow = plain(convolution.pads_low()),
                             .padsHigh = plain(convolution.pads_high())};
  return loweredColumns(static_cast<ConvolutionPass>(convolution.kind()), form,
                        convolutionFlops(convolution));
}

// Every row meets the matrix of one group. A rank that has some of the groups has as large a share
// of the rows if all groups have equally many.
static double groupedFlops(const plan::GroupedMatmul &matmul) {
  if (matmul.whole_groups() == 0)
    return 0;
  return 2.0 * double(matmul.rows()) * double(matmul.inputs()) * double(matmul.outputs()) *
         double(matmul.groups()) / double(matmul.whole_groups());
}

double flopsOf(const plan::Program &program, const plan::Instruction &instruction) {
  if (instruction.has_launch())
    return program.kernels(int(instruction.launch().kernel())).flops();
  if (instruction.has_matmul()) {
    const plan::Matmul &matmul = instruction.matmul();
    double flops = 2.0 * double(matmul.m()) * double(matmul.n()) * double(matmul.k());
    for (int64_t size : matmul.batch())
      flops *= double(size);
    return flops;
  }
  if (instruction.has_convolution())
    return convolutionFlops(instruction.convolution());
  if (instruction.has_grouped_matmul())
    return groupedFlops(instruction.grouped_matmul());
  return instruction.has_attention() ? attentionFlops(instruction.attention()) : 0;
}

static DType dtypeOf(const plan::Program &program, uint32_t buffer) {
  return static_cast<DType>(program.buffers(int(buffer)).dtype());
}

static double bufferBytes(const plan::Program &program, uint32_t buffer) {
  return buffer < uint32_t(program.buffers_size()) ? double(program.buffers(int(buffer)).bytes())
                                                   : 0; // in a defective plan
}

static double matmulBytes(const plan::Program &program, const plan::Matmul &matmul) {
  auto bytes = [&](const plan::StridedOperand &operand, int64_t rows, int64_t columns) {
    double size = double(byteSize(dtypeOf(program, operand.buffer())));
    for (int d = 0; d < matmul.batch_size(); ++d)
      size *= operand.strides(d) ? double(matmul.batch(d)) : 1;
    return size * double(rows) * double(columns);
  };
  return bytes(matmul.lhs(), matmul.m(), matmul.k()) + bytes(matmul.rhs(), matmul.k(), matmul.n()) +
         bytes(matmul.out(), matmul.m(), matmul.n()) * (matmul.accumulate() ? 2 : 1);
}

static double tensorBytes(const plan::Program &program, const std::vector<StridedTensor> &tensors) {
  double bytes = 0;
  for (const StridedTensor &tensor : tensors) {
    double size = double(byteSize(dtypeOf(program, tensor.operand->buffer())));
    for (size_t d = 0; d < tensor.sizes.size(); ++d)
      size *= tensor.operand->strides(int(d)) ? double(tensor.sizes[d]) : 1;
    bytes += size;
  }
  return bytes;
}

double sentBytes(const plan::Plan &plan, const plan::Program &program,
                 const plan::Collective &collective) {
  const std::optional<CollectiveKind> kind = collectiveFromNumber(collective.kind());
  if (!kind || kind == CollectiveKind::Recv)
    return 0;
  auto sum = [&](const auto &list) {
    double bytes = 0;
    for (uint32_t buffer : list)
      bytes += bufferBytes(program, buffer);
    return bytes;
  };
  double ranks = 1;
  for (uint32_t axis : collective.axes())
    ranks *= axis < uint32_t(plan.mesh_size()) ? plan.mesh(int(axis)).size() : 1;
  return shareSent(*kind, ranks) * std::max(sum(collective.send()), sum(collective.recv()));
}

// The bytes of instructions other than collectives.
static double localBytesOf(const plan::Program &program, const plan::Instruction &instruction) {
  auto buffers = [&](const auto &list) {
    double bytes = 0;
    for (uint32_t buffer : list)
      bytes += bufferBytes(program, buffer);
    return bytes;
  };
  if (instruction.has_launch())
    return program.kernels(int(instruction.launch().kernel())).bytes();
  if (instruction.has_matmul())
    return matmulBytes(program, instruction.matmul());
  if (instruction.has_attention())
    return tensorBytes(program, attentionTensors(instruction.attention()));
  if (instruction.has_grouped_matmul())
    return tensorBytes(program, groupedTensors(instruction.grouped_matmul()));
  if (instruction.has_convolution()) {
    const plan::Convolution &conv = instruction.convolution();
    return buffers(std::array{conv.input(), conv.weight(), conv.output()});
  }
  if (instruction.has_copy())
    return buffers(std::array{instruction.copy().from(), instruction.copy().to()});
  return instruction.has_fill() ? bufferBytes(program, instruction.fill().buffer()) : 0;
}

double bytesOf(const plan::Plan &plan, const plan::Program &program,
               const plan::Instruction &instruction) {
  return instruction.has_collective() ? sentBytes(plan, program, instruction.collective())
                                      : localBytesOf(program, instruction);
}

// Products with one right (left) factor are one product of more rows (columns).
static MatrixSizes sizesOf(const plan::Matmul &matmul) {
  MatrixSizes sizes{.m = double(matmul.m()), .n = double(matmul.n()), .k = double(matmul.k())};
  for (int d = 0; d < matmul.batch_size(); ++d) {
    double &extent = matmul.rhs().strides(d) == 0   ? sizes.m
                     : matmul.lhs().strides(d) == 0 ? sizes.n
                                                    : sizes.batch;
    extent *= double(matmul.batch(d));
  }
  return sizes;
}

static GroupedSizes sizesOf(const plan::GroupedMatmul &matmul) {
  return {.rows = matmul.rows(),
          .inputs = matmul.inputs(),
          .outputs = matmul.outputs(),
          .groups = matmul.groups(),
          .wholeGroups = matmul.whole_groups(),
          .isWeightGradient = matmul.weight_gradient()};
}

// The buffer of a factor of a library's product; nothing for other instructions.
static std::optional<uint32_t> factorOf(const plan::Instruction &instruction) {
  if (instruction.has_matmul())
    return instruction.matmul().lhs().buffer();
  if (instruction.has_convolution())
    return rolesOf(instruction.convolution()).reads[0];
  if (instruction.has_grouped_matmul())
    return instruction.grouped_matmul().input().buffer();
  if (instruction.has_attention())
    return instruction.attention().query().buffer();
  return std::nullopt;
}

KernelWork workOf(const plan::Program &program, const plan::Instruction &instruction) {
  KernelWork work{.flops = flopsOf(program, instruction),
                  .bytes = localBytesOf(program, instruction)};
  const std::optional<uint32_t> factor = factorOf(instruction);
  if (!factor)
    return work;
  const DType type = dtypeOf(program, *factor);
  work.elementType = name(isFloat(type) ? type : DType::F32);
  work.isProduct = true;
  if (instruction.has_matmul())
    work.sizes = sizesOf(instruction.matmul());
  if (instruction.has_convolution())
    work.columns = columnsOf(instruction.convolution());
  if (instruction.has_grouped_matmul())
    work.grouped = sizesOf(instruction.grouped_matmul());
  if (!instruction.has_attention())
    return work;
  const plan::Attention &attention = instruction.attention();
  work.isAttention = true;
  const int whole = attention.whole_size(); // the sizes of the scores of all ranks, or none
  work.countedShare =
      countedShare(whole ? attention.whole(whole - 2) : attention.queries(),
                   whole ? attention.whole(whole - 1) : attention.keys(), attention.causal());
  if (attention.workspace_size() > 0) // of GPUs
    work.library = {.sizes = sizesOf(attention), .isGradient = attention.has_grad()};
  return work;
}

bool hasShortFactors(const plan::Program &program, const plan::Instruction &instruction) {
  const std::optional<uint32_t> factor = factorOf(instruction);
  return (factor && byteSize(dtypeOf(program, *factor)) == 2) ||
         (instruction.has_matmul() && instruction.matmul().tf32()) ||
         (instruction.has_convolution() && instruction.convolution().tf32());
}

std::string workKind(const plan::Program &program, const plan::Instruction &instruction) {
  auto times = [](const auto &sizes) {
    std::string text;
    for (int64_t size : sizes)
      text += concat(text.empty() ? "" : "x", size);
    return text;
  };
  if (instruction.has_launch())
    return "kernel " + nameOf(program.kernels(int(instruction.launch().kernel())));
  if (instruction.has_matmul()) {
    const plan::Matmul &matmul = instruction.matmul();
    return "matmul " + (matmul.batch_size() ? times(matmul.batch()) + " of " : "") +
           times(std::array{matmul.m(), matmul.n(), matmul.k()});
  }
  if (instruction.has_convolution())
    return "convolution " + plan::Convolution::Kind_Name(instruction.convolution().kind()) + " " +
           times(instruction.convolution().input_shape()) + " by " +
           times(instruction.convolution().weight_shape());
  if (instruction.has_attention()) {
    const plan::Attention &a = instruction.attention();
    return concat(kindName(instruction), ' ', a.heads(), " heads of ", a.queries(), 'x', a.keys(),
                  'x', a.width());
  }
  if (instruction.has_grouped_matmul()) {
    const plan::GroupedMatmul &m = instruction.grouped_matmul();
    return concat(kindName(instruction), ' ', m.groups(), " groups of ",
                  times(std::array{m.rows(), m.outputs(), m.inputs()}));
  }
  return kindName(instruction);
}

} // namespace cleave::artifact
