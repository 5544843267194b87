// Strings for names, shapes and layouts of a plan; checked access by index.
#include "tools/cleave-dump/PlanText.h"

#include "runtime/artifact/Enums.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/Programs.h"
#include "runtime/base/Collective.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Table.h"
#include "runtime/base/Terminal.h"

#include <algorithm>
#include <cctype>

using google::protobuf::RepeatedField;

namespace cleave::dump {

size_t lineWidth() { return terminalWidth(); }

std::string tableText(const Table &table) {
  return table.str(2, lineWidth(),
                   [](const std::string &line) { return styled(line, Style::Heading); });
}

std::string titled(const std::string &text) {
  std::string result;
  for (const std::string &line : wrapped(text, lineWidth()))
    result += (result.empty() ? "" : "\n") + styled(line, Style::Title);
  return result;
}

std::string paragraph(const std::string &text, size_t indent) {
  std::string result;
  for (const std::string &line : wrapped(text, lineWidth() - std::min(lineWidth(), indent)))
    result += std::string(indent, ' ') + line + "\n";
  return result;
}

// `ALL_REDUCE` -> `all-reduce`.
static std::string readable(std::string name) {
  for (char &c : name)
    c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name.empty() ? "?" : name;
}

std::string text(plan::Role role) {
  const std::optional<Role> known = artifact::findRole(role);
  return known ? std::string(name(*known)) : "?";
}

std::string text(plan::Space space) { return readable(plan::Space_Name(space)); }

std::string text(plan::Reduce reduce) { return readable(plan::Reduce_Name(reduce)); }

std::string shapeText(const RepeatedField<int64_t> &shape) {
  std::string result;
  for (int64_t size : shape)
    result += concat(result.empty() ? "" : "x", size);
  return result.empty() ? "scalar" : result;
}

std::string axesText(const plan::Plan &plan, const RepeatedField<uint32_t> &axes) {
  std::string result;
  for (uint32_t axis : axes)
    result += (result.empty() ? "" : "+") +
              (axis < static_cast<uint32_t>(plan.mesh_size()) ? plan.mesh(axis).name() : "?");
  return result.empty() ? "-" : result;
}

std::string meshText(const plan::Plan &plan) {
  return plan.mesh().empty() ? "one rank" : artifact::meshOf(plan).str();
}

uint64_t stageCount(const plan::Plan &plan) {
  for (const plan::MeshAxis &axis : plan.mesh())
    if (axis.name() == kStageAxis)
      return std::max<uint64_t>(1, axis.size());
  return 1;
}

std::string layoutText(const plan::Plan &plan, const plan::Tensor &tensor) {
  std::string result;
  for (int d = 0; d < std::max(tensor.shape_size(), tensor.sharding_size()); ++d) {
    bool split = d < tensor.sharding_size() && tensor.sharding(d).axes_size() > 0;
    result += (d ? ", " : "") + (split ? axesText(plan, tensor.sharding(d).axes()) : "_");
  }
  return "[" + result + "]";
}

uint64_t tensorBytes(const plan::Tensor &tensor) {
  uint64_t bytes = artifact::byteSize(tensor.dtype());
  for (int64_t size : tensor.shape())
    bytes *= size;
  return bytes;
}

uint64_t blockBytes(const plan::Plan &plan, const plan::Tensor &tensor) {
  uint64_t bytes = artifact::byteSize(tensor.dtype());
  for (int d = 0; d < tensor.shape_size(); ++d) {
    uint64_t parts = d < tensor.sharding_size() ? ranksAlong(plan, tensor.sharding(d).axes()) : 1;
    bytes *= (tensor.shape(d) + parts - 1) / parts;
  }
  return bytes;
}

// The element of a repeated field, or an empty message.
template <typename Message, typename Field>
static const Message &elementAt(const Field &field, uint64_t index) {
  if (index < static_cast<uint64_t>(field.size()))
    return field.Get(static_cast<int>(index));
  return Message::default_instance();
}

const plan::Buffer &bufferAt(const plan::Program &program, uint64_t index) {
  return elementAt<plan::Buffer>(program.buffers(), index);
}

const plan::Kernel &kernelAt(const plan::Program &program, uint64_t index) {
  return elementAt<plan::Kernel>(program.kernels(), index);
}

const plan::Tensor &tensorAt(const plan::Plan &plan, uint64_t index) {
  return elementAt<plan::Tensor>(plan.tensors(), index);
}

const plan::Program &programOf(const plan::Plan &plan, uint32_t rank) {
  const plan::Program *program = artifact::findProgram(plan, plan::Program::STEP, rank);
  return program ? *program : plan::Program::default_instance();
}

std::string bufferText(const plan::Program &program, uint64_t index) {
  if (index >= static_cast<uint64_t>(program.buffers_size()))
    return concat('?', index);
  const plan::Buffer &buffer = bufferAt(program, index);
  std::string shape = buffer.shape_size() ? "[" + shapeText(buffer.shape()) + "]" : "";
  return buffer.name() + " " + artifact::dtypeName(buffer.dtype()) + shape;
}

std::string ranksOf(const plan::Program &program) {
  std::string result;
  for (int i = 0; i < program.ranks_size(); ++i) {
    const uint32_t first = program.ranks(i);
    while (i + 1 < program.ranks_size() && program.ranks(i + 1) == program.ranks(i) + 1)
      ++i;
    result += concat(result.empty() ? "" : ",", first);
    if (program.ranks(i) > first)
      result += concat('-', program.ranks(i));
  }
  return result;
}

bool isEvaluation(const plan::Program &program) {
  return program.kind() == plan::Program::EVALUATION;
}

uint64_t ranksAlong(const plan::Plan &plan, const RepeatedField<uint32_t> &axes) {
  uint64_t ranks = 1;
  for (uint32_t axis : axes)
    ranks *= std::max<uint32_t>(1, elementAt<plan::MeshAxis>(plan.mesh(), axis).size());
  return ranks;
}

uint64_t runsOf(const plan::Program &program, uint32_t segment) {
  return std::count_if(program.schedule().begin(), program.schedule().end(),
                       [&](const plan::ScheduleStep &step) { return step.segment() == segment; });
}

std::string runsText(const plan::Program &program, uint32_t segment) {
  const uint64_t runs = runsOf(program, segment);
  if (runs == 0)
    return "never runs";
  return (runs == 1 ? "runs once " : concat("runs ", runs, " times ")) +
         (isEvaluation(program) ? "an evaluation" : "a step");
}

uint64_t collectiveBytes(const plan::Program &program, const plan::Collective &collective) {
  uint64_t sent = 0, received = 0;
  for (uint32_t buffer : collective.send())
    sent += bufferAt(program, buffer).bytes();
  for (uint32_t buffer : collective.recv())
    received += bufferAt(program, buffer).bytes();
  return std::max(sent, received);
}

static std::string fileName(const std::string &path) {
  return path.substr(path.find_last_of('/') + 1);
}

std::string titleOf(const plan::Plan &plan, const std::string &path) {
  const uint32_t count = artifact::rankCount(plan);
  std::string ranks = count == 1 ? "1 rank" : concat(count, " ranks");
  return fileName(path) + ": " + (plan.trains() ? "training" : "inference") + " of " +
         (plan.source().path().empty() ? "a step without a model file"
                                       : fileName(plan.source().path())) +
         " on " + ranks + (plan.mesh_size() ? ", mesh " + meshText(plan) : "");
}

} // namespace cleave::dump
