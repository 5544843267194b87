// See DnnSupport.h.
#include "test/unit/runtime_device_cuda/DnnSupport.h"

#include "runtime/artifact/Access.h"
#include "runtime/artifact/Modules.h"
#include "runtime/base/AttentionScratch.h"
#include "runtime/base/Concat.h"
#include "test/unit/runtime_device_cuda/Recorder.h"
#include "test/unit/runtime_device_cuda/RecordingDriver.h"

#include <set>

namespace cleave::test {
namespace {

class Asker {
public:
  explicit Asker(const plan::Plan &plan) : program_(plan.programs(0)), recorder_(plan) {
    Recorder::current() = &recorder_;
    device::CudaLibraries libraries = recordingLibraries();
    libraries.dnn = devicelessDnn;
    device_ = std::move(*device::makeCudaDevice(0, libraries));
  }
  ~Asker() {
    device_.reset();
    Recorder::current() = nullptr;
  }

  std::vector<DnnSupport> ask() {
    for (const plan::Segment &segment : program_.segments())
      for (const plan::Instruction &instruction : segment.instructions())
        if (instruction.has_attention())
          ask(instruction, instruction.attention());
        else if (instruction.has_convolution())
          ask(instruction, instruction.convolution());
    return std::move(answers_);
  }

private:
  // The runtime asks the library once for instructions that differ only in their buffers.
  void add(const plan::Instruction &instruction, const device::PreparedAction &action,
           device::Workspace workspace, uint64_t kept) {
    DnnSupport answer{.kind = artifact::kindName(instruction), .name = instruction.name()};
    answer.reservedBytes = workspace.bytes;
    if (!action)
      answer.refusal = action.status().message();
    else
      answer.plan = lastDnnPlan();
    answer.usedBytes = kept + uint64_t(answer.plan.workspaceBytes);
    answers_.push_back(answer);
  }

  void ask(const plan::Instruction &instruction, const plan::Attention &a) {
    device::AttentionOperands at{};
    at.dtype = at.biasDtype = dtypeOf(a.query().buffer());
    at.query = addressOf(a.query().buffer()), at.key = addressOf(a.key().buffer());
    at.value = addressOf(a.value().buffer()), at.result = addressOf(a.result().buffer());
    at.lse = addressOf(a.lse().buffer());
    if (a.has_grad()) {
      at.grad = addressOf(a.grad().buffer()), at.queryGrad = addressOf(a.query_grad().buffer());
      at.keyGrad = addressOf(a.key_grad().buffer());
      at.valueGrad = addressOf(a.value_grad().buffer());
    }
    at.workspace = workspaceOf(a.workspace());
    std::string key = a.causal() ? "causal attention" : "attention";
    for (const artifact::StridedTensor &tensor : artifact::attentionTensors(a)) {
      key += concat(' ', tensor.name, ' ', tensor.operand->offset());
      for (size_t d = 0; d < tensor.sizes.size(); ++d)
        key += concat(' ', tensor.sizes[d], ' ', tensor.operand->strides(int(d)));
    }
    if (!isNew(key))
      return;
    add(instruction, device_->attention(a, at), at.workspace,
        a.has_grad() ? uint64_t(attentionSumBytes(artifact::sizesOf(a))) : 0);
  }

  void ask(const plan::Instruction &instruction, const plan::Convolution &c) {
    const artifact::ConvolutionRoles roles = artifact::rolesOf(c);
    device::ConvolutionOperands at{.dtype = dtypeOf(roles.reads[0]),
                                   .resultDtype = dtypeOf(roles.written),
                                   .input = addressOf(c.input()),
                                   .weight = addressOf(c.weight()),
                                   .output = addressOf(c.output()),
                                   .workspace = workspaceOf(c.workspace())};
    plan::Convolution key = c;
    key.clear_input(), key.clear_weight(), key.clear_output(), key.clear_workspace();
    if (isNew("convolution " + key.SerializeAsString()))
      add(instruction, device_->convolution(c, at), at.workspace, 0);
  }

  bool isNew(const std::string &key) { return seen_.insert(key).second; }
  const plan::Buffer &at(uint32_t buffer) const { return program_.buffers(int(buffer)); }
  DType dtypeOf(uint32_t buffer) const { return DType(at(buffer).dtype()); }
  // Nothing is accessed.
  void *addressOf(uint32_t buffer) const {
    constexpr uint64_t kBegin = uint64_t(1) << 32;
    return reinterpret_cast<void *>(kBegin + at(buffer).offset());
  }
  template <typename List> device::Workspace workspaceOf(const List &list) const {
    return list.empty() ? device::Workspace{}
                        : device::Workspace{addressOf(list[0]), at(list[0]).bytes()};
  }

  const plan::Program &program_;
  Recorder recorder_;
  std::unique_ptr<device::Device> device_;
  std::set<std::string> seen_;
  std::vector<DnnSupport> answers_;
};

} // namespace

Result<std::vector<DnnSupport>> dnnSupport(const plan::Plan &plan) {
  CLEAVE_TRY(devicelessDnn().status());
  return Asker(plan).ask();
}

} // namespace cleave::test
