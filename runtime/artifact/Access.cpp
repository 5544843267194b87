// See Access.h.
#include "runtime/artifact/Access.h"

#include "runtime/artifact/Enums.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/base/Queue.h"

#include <algorithm>
#include <tuple>

namespace cleave::artifact {
namespace {

// The result for counts that overflow: more elements than any buffer has, and small enough to be
// multiplied by the size of an element.
constexpr int64_t kTooMany = int64_t(1) << 56;

// Collects accesses; the dtypes come from the program's buffers.
class Collector {
public:
  explicit Collector(const plan::Program &program) : program_(program) {}

  void read(uint32_t buffer, uint64_t elements = 0) { add(buffer, true, false, elements); }
  void write(uint32_t buffer, uint64_t elements = 0) { add(buffer, false, true, elements); }
  void write(const google::protobuf::RepeatedField<uint32_t> &buffers) {
    for (uint32_t buffer : buffers)
      write(buffer);
  }
  void update(uint32_t buffer, uint64_t elements = 0) { add(buffer, true, true, elements); }
  std::vector<Access> take() { return std::move(accesses_); }

private:
  void add(uint32_t buffer, bool reads, bool writes, uint64_t elements) {
    uint64_t size =
        buffer < uint32_t(program_.buffers_size()) ? byteSize(program_.buffers(buffer).dtype()) : 0;
    accesses_.push_back({buffer, reads, writes, elements * size});
  }
  const plan::Program &program_;
  std::vector<Access> accesses_;
};

void collectLaunch(const plan::Launch &launch, Collector &to) {
  std::vector<bool> written(launch.buffers_size());
  for (uint32_t position : launch.written())
    if (position < written.size())
      written[position] = true;
  for (int i = 0; i < launch.buffers_size(); ++i)
    written[i] ? to.write(launch.buffers(i)) : to.read(launch.buffers(i));
}

void collectMatmul(const plan::Matmul &matmul, Collector &to) {
  auto reach = [&](const plan::StridedOperand &operand, int64_t rows, int64_t columns) {
    std::vector<int64_t> sizes(matmul.batch().begin(), matmul.batch().end());
    sizes.push_back(rows), sizes.push_back(columns);
    return uint64_t(std::max<int64_t>(0, reachOf(operand, sizes)));
  };
  to.read(matmul.lhs().buffer(), reach(matmul.lhs(), matmul.m(), matmul.k()));
  to.read(matmul.rhs().buffer(), reach(matmul.rhs(), matmul.k(), matmul.n()));
  for (uint32_t bias : matmul.bias())
    to.read(bias, uint64_t(std::max<int64_t>(0, matmul.n())));
  uint64_t out = reach(matmul.out(), matmul.m(), matmul.n());
  matmul.accumulate() ? to.update(matmul.out().buffer(), out)
                      : to.write(matmul.out().buffer(), out);
  to.write(matmul.workspace());
}

void collectConvolution(const plan::Convolution &convolution, Collector &to) {
  auto touch = [&](uint32_t buffer, const google::protobuf::RepeatedField<int64_t> &shape,
                   bool writes) {
    uint64_t elements = std::max<int64_t>(0, elementCount(shape));
    writes ? to.write(buffer, elements) : to.read(buffer, elements);
  };
  using Kind = plan::Convolution;
  touch(convolution.input(), convolution.input_shape(), convolution.kind() == Kind::INPUT_GRADIENT);
  touch(convolution.weight(), convolution.weight_shape(),
        convolution.kind() == Kind::WEIGHT_GRADIENT);
  touch(convolution.output(), convolution.output_shape(), convolution.kind() == Kind::FORWARD);
  to.write(convolution.workspace());
}

void collectTensors(const std::vector<StridedTensor> &tensors, Collector &to) {
  for (const StridedTensor &tensor : tensors) {
    uint64_t elements = uint64_t(std::max<int64_t>(0, reachOf(*tensor.operand, tensor.sizes)));
    tensor.isWritten ? to.write(tensor.operand->buffer(), elements)
                     : to.read(tensor.operand->buffer(), elements);
  }
}

void collectAttention(const plan::Attention &attention, Collector &to) {
  collectTensors(attentionTensors(attention), to);
  for (const auto *scalars : {&attention.seed(), &attention.offsets()})
    for (uint32_t buffer : *scalars)
      to.read(buffer);
  to.write(attention.scratch());
  to.write(attention.workspace());
}

void collectGroupedMatmul(const plan::GroupedMatmul &matmul, Collector &to) {
  collectTensors(groupedTensors(matmul), to);
  to.read(matmul.ends(), uint64_t(std::max<int64_t>(0, matmul.whole_groups())));
  for (const auto *scalars : {&matmul.first_row(), &matmul.first_group()})
    for (uint32_t buffer : *scalars)
      to.read(buffer);
}

} // namespace

std::vector<StridedTensor> groupedTensors(const plan::GroupedMatmul &m) {
  return {{"input", &m.input(), {m.rows(), m.inputs()}, false},
          {"weight", &m.weight(), {m.groups(), m.inputs(), m.outputs()}, m.weight_gradient()},
          {"output", &m.output(), {m.rows(), m.outputs()}, !m.weight_gradient()}};
}

std::vector<StridedTensor> attentionTensors(const plan::Attention &a) {
  auto shape = [&](int64_t heads, std::initializer_list<int64_t> matrix) {
    std::vector<int64_t> sizes(a.batch().begin(), a.batch().end());
    sizes.push_back(heads);
    sizes.insert(sizes.end(), matrix);
    return sizes;
  };
  bool isGradient = a.has_grad();
  std::vector<StridedTensor> tensors = {
      {"query", &a.query(), shape(a.heads(), {a.queries(), a.width()}), false},
      {"key", &a.key(), shape(a.groups(), {a.keys(), a.width()}), false},
      {"value", &a.value(), shape(a.groups(), {a.keys(), a.depth()}), false},
      {"result", &a.result(), shape(a.heads(), {a.queries(), a.depth()}), !isGradient},
      {"lse", &a.lse(), shape(a.heads(), {a.queries()}), !isGradient}};
  for (const auto &[name, operand, isPresent] :
       {std::tuple{"bias", &a.bias(), a.has_bias()}, {"mask", &a.mask(), a.has_mask()}})
    if (isPresent)
      tensors.push_back({name, operand, shape(a.heads(), {a.queries(), a.keys()}), false});
  if (!isGradient)
    return tensors;
  tensors.push_back({"grad", &a.grad(), shape(a.heads(), {a.queries(), a.depth()}), false});
  tensors.push_back(
      {"query_grad", &a.query_grad(), shape(a.heads(), {a.queries(), a.width()}), true});
  tensors.push_back({"key_grad", &a.key_grad(), shape(a.groups(), {a.keys(), a.width()}), true});
  tensors.push_back(
      {"value_grad", &a.value_grad(), shape(a.groups(), {a.keys(), a.depth()}), true});
  return tensors;
}

int64_t elementCount(const google::protobuf::RepeatedField<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count))
      return kTooMany;
  return count;
}

int64_t reachOf(const plan::StridedOperand &operand, std::span<const int64_t> sizes) {
  if (operand.strides_size() != int(sizes.size()) || operand.offset() < 0)
    return -1;
  int64_t last = operand.offset();
  bool empty = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t step;
    if (operand.strides(int(i)) < 0 || sizes[i] < 0)
      return -1;
    empty |= sizes[i] == 0;
    if (__builtin_mul_overflow(sizes[i] - 1, operand.strides(int(i)), &step) ||
        __builtin_add_overflow(last, step, &last))
      last = kTooMany - 1;
  }
  return empty ? 0 : std::min(last, kTooMany - 1) + 1;
}

std::vector<Access> accessesOf(const plan::Program &program, const plan::Instruction &instruction) {
  Collector to(program);
  switch (instruction.kind_case()) {
  case plan::Instruction::kLaunch:
    collectLaunch(instruction.launch(), to);
    break;
  case plan::Instruction::kMatmul:
    collectMatmul(instruction.matmul(), to);
    break;
  case plan::Instruction::kConvolution:
    collectConvolution(instruction.convolution(), to);
    break;
  case plan::Instruction::kAttention:
    collectAttention(instruction.attention(), to);
    break;
  case plan::Instruction::kGroupedMatmul:
    collectGroupedMatmul(instruction.grouped_matmul(), to);
    break;
  case plan::Instruction::kCollective:
    for (uint32_t buffer : instruction.collective().send())
      to.read(buffer);
    for (uint32_t buffer : instruction.collective().recv())
      to.write(buffer);
    break;
  case plan::Instruction::kCopy:
    to.read(instruction.copy().from());
    to.write(instruction.copy().to());
    break;
  case plan::Instruction::kFill:
    to.write(instruction.fill().buffer());
    break;
  case plan::Instruction::kLoadInput:
    to.write(instruction.load_input().buffer());
    break;
  case plan::Instruction::kStoreOutput:
    to.read(instruction.store_output().buffer());
    break;
  case plan::Instruction::kMetric:
    to.read(instruction.metric().buffer());
    break;
  case plan::Instruction::KIND_NOT_SET:
    break;
  }
  return to.take();
}

bool isOptimizerState(const plan::Tensor &tensor) {
  return tensor.role() == plan::STATE &&
         (!tensor.parameter().empty() || tensor.name() == kUpdateCounter);
}

bool isModelState(const plan::Tensor &tensor) {
  return tensor.role() == plan::STATE && tensor.parameter().empty() &&
         (tensor.shape_size() > 0 || tensor.source().has_file());
}

bool hasOneQueue(const plan::Program &program) {
  for (const plan::Segment &segment : program.segments())
    for (const plan::Instruction &instruction : segment.instructions())
      if (instruction.queue() != kComputeQueue)
        return false;
  return true;
}

bool isPersistent(const plan::Buffer &buffer) {
  std::optional<Role> role = findRole(buffer.role());
  return role && isPersistent(*role);
}

std::string kindName(const plan::Collective &collective) {
  std::optional<CollectiveKind> kind = findKind(collective);
  return kind ? std::string(title(*kind)) : "unknown collective";
}

AttentionSizes sizesOf(const plan::Attention &a) {
  return {
      elementCount(a.batch()), a.heads(), a.groups(), a.queries(), a.keys(), a.width(), a.depth()};
}

ConvolutionRoles rolesOf(const plan::Convolution &c) {
  switch (c.kind()) {
  case plan::Convolution::INPUT_GRADIENT:
    return {{c.output(), c.weight()}, c.input()};
  case plan::Convolution::WEIGHT_GRADIENT:
    return {{c.output(), c.input()}, c.weight()};
  default:
    return {{c.input(), c.weight()}, c.output()};
  }
}

std::string kindName(const plan::Instruction &instruction) {
  switch (instruction.kind_case()) {
  case plan::Instruction::kLaunch:
    return "launch";
  case plan::Instruction::kMatmul:
    return "matmul";
  case plan::Instruction::kConvolution:
    return "convolution";
  case plan::Instruction::kAttention:
    return instruction.attention().has_grad() ? "attention gradient" : "attention";
  case plan::Instruction::kGroupedMatmul:
    return instruction.grouped_matmul().weight_gradient() ? "grouped weight gradient"
                                                          : "grouped matmul";
  case plan::Instruction::kCollective:
    return kindName(instruction.collective());
  case plan::Instruction::kCopy:
    return "copy";
  case plan::Instruction::kFill:
    return "fill";
  case plan::Instruction::kLoadInput:
    return "load input";
  case plan::Instruction::kStoreOutput:
    return "store output";
  case plan::Instruction::kMetric:
    return "metric";
  case plan::Instruction::KIND_NOT_SET:
    break;
  }
  return "nothing";
}

} // namespace cleave::artifact
