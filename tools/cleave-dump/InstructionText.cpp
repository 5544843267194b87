// Instructions as `properties of the kind: reads -> writes`.
#include "tools/cleave-dump/InstructionText.h"

#include "compiler/schedule/plan/PlanTimeline.h"
#include "runtime/artifact/Access.h"
#include "runtime/artifact/KernelSignature.h"
#include "runtime/base/Concat.h"
#include "tools/cleave-dump/PlanText.h"

namespace cleave::dump {

std::set<uint32_t> buffersOf(const plan::Program &program, const plan::Instruction &instruction) {
  std::set<uint32_t> result;
  for (const artifact::Access &access : artifact::accessesOf(program, instruction))
    result.insert(access.buffer);
  return result;
}

// Properties of the kind, printed before the buffers: `cleave_k3 `, `4 x 128x256x64 `, `over dp `.
static std::string particulars(const plan::Plan &plan, const plan::Program &program,
                               const plan::Instruction &instruction) {
  switch (instruction.kind_case()) {
  case plan::Instruction::kLaunch:
    return artifact::nameOf(kernelAt(program, instruction.launch().kernel())) + ": ";
  case plan::Instruction::kMatmul: {
    const plan::Matmul &matmul = instruction.matmul();
    int64_t batch = 1;
    for (int64_t size : matmul.batch())
      batch *= size;
    return concat(batch > 1 ? concat(batch, " x ") : "", matmul.m(), 'x', matmul.n(), 'x',
                  matmul.k(), matmul.accumulate() ? " added" : "", matmul.tf32() ? " tf32" : "",
                  matmul.bias().empty() ? "" : " with bias", ": ");
  }
  case plan::Instruction::kConvolution:
    return std::string(instruction.convolution().channels_last() ? "channels last: " : "") +
           (instruction.convolution().tf32() ? "tf32: " : "");
  case plan::Instruction::kAttention: {
    const plan::Attention &attention = instruction.attention();
    return concat(attention.heads(), " heads of ", attention.queries(), 'x', attention.keys(), 'x',
                  attention.width(), attention.causal() ? " causal" : "", ": ");
  }
  case plan::Instruction::kGroupedMatmul: {
    const plan::GroupedMatmul &matmul = instruction.grouped_matmul();
    return concat(matmul.rows(), 'x', matmul.outputs(), 'x', matmul.inputs(), " in ",
                  matmul.groups(), " groups: ");
  }
  case plan::Instruction::kCollective: {
    const plan::Collective &collective = instruction.collective();
    return std::string(collective.reduce() == plan::SUM ? "" : text(collective.reduce()) + " ") +
           "over " + axesText(plan, collective.axes()) +
           (collective.to_axes().empty() ? "" : " to " + axesText(plan, collective.to_axes())) +
           (collective.reversed() ? " reversed" : "") + ": ";
  }
  case plan::Instruction::kFill:
    return concat("with ", instruction.fill().value(), ": ");
  case plan::Instruction::kMetric:
    return instruction.metric().name() + ": ";
  case plan::Instruction::kLoadInput:
    return instruction.load_input().early() ? "early " : "";
  default:
    return "";
  }
}

std::string instructionText(const plan::Plan &plan, const plan::Program &program,
                            const plan::Instruction &instruction) {
  std::string reads, writes;
  for (const artifact::Access &access : artifact::accessesOf(program, instruction)) {
    std::string &side = access.writes ? writes : reads;
    side += (side.empty() ? "" : ", ") + bufferText(program, access.buffer);
  }
  std::string arrow = writes.empty() ? "" : reads.empty() ? "-> " : " -> ";
  return particulars(plan, program, instruction) + reads + arrow + writes;
}

int laneOf(const plan::Instruction &instruction) {
  switch (schedule::resourceKindOf(instruction)) {
  case schedule::ResourceKind::Link:
    return 1;
  case schedule::ResourceKind::Compute:
    return 0;
  default:
    return 2;
  }
}

} // namespace cleave::dump
