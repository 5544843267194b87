// --explain NAME: everything about one name.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/base/Nearest.h"
#include "runtime/base/Units.h"
#include "tools/cleave-dump/InstructionText.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Views.h"

#include <algorithm>
#include <set>

namespace cleave::dump {

// `+1.2 ms`, `-3 us`: relative to the chosen one.
static std::string more(double seconds) { return (seconds >= 0 ? "+" : "") + secondsText(seconds); }

static std::string decisionText(const plan::Decision &decision) {
  std::string what =
      concat(decision.kind(), decision.place().empty() ? "" : ", ", decision.place(), ": ",
             decision.choice(), decision.kind() == "axis" ? " of the FLOPs" : "");
  if (decision.seconds() != 0)
    what += ", " + secondsText(decision.seconds());
  std::string result = paragraph(what, 0);
  bool isListed = false; // the reason is one of the alternatives
  Table table({">more time", "instead, all else equal"});
  for (const plan::Alternative &alternative : decision.alternatives()) {
    table.add({more(alternative.seconds()), alternative.choice()});
    isListed |=
        alternative.seconds() >= 0 && decision.reason().ends_with(": " + alternative.choice());
  }
  if (!isListed)
    result += paragraph(decision.reason(), 2);
  return table.isEmpty() ? result : result + tableText(table);
}

static std::string tensorText(const plan::Plan &plan, const plan::Tensor &tensor) {
  std::string result =
      paragraph(text(tensor.role()) + ": " + artifact::dtypeName(tensor.dtype()) + "[" +
                    shapeText(tensor.shape()) + "], layout " + layoutText(plan, tensor) + ", " +
                    bytesText(tensorBytes(tensor)) + " in all, " +
                    bytesText(blockBytes(plan, tensor)) + " on one rank",
                0);
  for (const std::string &name : tensor.other_names())
    result += paragraph("is also named " + name + ": the two are tied", 2);
  if (!tensor.parameter().empty())
    result += paragraph("belongs to parameter " + tensor.parameter(), 2);
  for (const plan::Tensor &other : plan.tensors())
    if (other.parameter() == tensor.name())
      result += paragraph("its optimizer state: " + other.name() + " " + layoutText(plan, other) +
                              ", " + bytesText(blockBytes(plan, other)) + " on one rank",
                          2);
  return result;
}

// Buffers with this name, or that hold the block of the tensor with this name, and the instructions
// that use them.
static std::string programText(const plan::Plan &plan, const plan::Program &program,
                               const std::string &name) {
  std::set<uint32_t> buffers;
  Table places({"buffer", "type", "role", ">bytes", ">offset", ">first", ">last"});
  for (int b = 0; b < program.buffers_size(); ++b) {
    const plan::Buffer &buffer = program.buffers(b);
    bool isBlock = buffer.tensor() >= 0 && tensorAt(plan, buffer.tensor()).name() == name;
    if (buffer.name() != name && !isBlock)
      continue;
    buffers.insert(b);
    places.add({buffer.name(),
                artifact::dtypeName(buffer.dtype()) + "[" + shapeText(buffer.shape()) + "]",
                text(buffer.role()), bytesText(buffer.bytes()), std::to_string(buffer.offset()),
                std::to_string(buffer.first()), std::to_string(buffer.last())});
  }
  Table uses({">at", "instruction", "for", "what", ">predicted"});
  size_t position = 0;
  for (const plan::Segment &segment : program.segments()) {
    for (const plan::Instruction &instruction : segment.instructions()) {
      std::set<uint32_t> touched = buffersOf(program, instruction);
      bool uses_it = std::any_of(touched.begin(), touched.end(),
                                 [&](uint32_t buffer) { return buffers.contains(buffer); });
      if (uses_it || instruction.name() == name)
        uses.add({std::to_string(position), artifact::kindName(instruction),
                  clipped(instruction.name(), 36),
                  clipped(instructionText(plan, program, instruction), 110),
                  secondsText(instruction.seconds())});
      ++position;
    }
  }
  if (places.isEmpty() && uses.isEmpty())
    return "";
  std::string result =
      "on ranks " + ranksOf(program) + (isEvaluation(program) ? " in an evaluation:\n" : ":\n");
  result += places.isEmpty() ? "" : tableText(places);
  return result + (uses.isEmpty() ? "" : tableText(uses));
}

// Every name that explain() accepts.
static std::set<std::string> allNames(const plan::Plan &plan) {
  std::set<std::string> names;
  for (const plan::Decision &decision : plan.decisions())
    names.insert(decision.name());
  for (const plan::Tensor &tensor : plan.tensors()) {
    names.insert(tensor.name());
    names.insert(tensor.other_names().begin(), tensor.other_names().end());
  }
  for (const plan::Program &program : plan.programs()) {
    for (const plan::Buffer &buffer : program.buffers())
      names.insert(buffer.name());
    for (const plan::Segment &segment : program.segments())
      for (const plan::Instruction &instruction : segment.instructions())
        names.insert(instruction.name());
  }
  names.erase("");
  return names;
}

static Status unknownName(const plan::Plan &plan, const std::string &name) {
  const std::set<std::string> names = allNames(plan);
  return Status::userError("the plan has no parameter, op or value named ", name,
                           suggestionAmongMany(name, {names.begin(), names.end()}));
}

// The name that the plan uses for a parameter, which may have several in the user's model.
static std::string nameInPlan(const plan::Plan &plan, const std::string &name) {
  for (const plan::Tensor &tensor : plan.tensors())
    if (std::ranges::find(tensor.other_names(), name) != tensor.other_names().end())
      return tensor.name();
  return name;
}

Result<std::string> explain(const plan::Plan &plan, const std::string &asked) {
  constexpr std::string_view kStage = "stage:";
  if (asked.starts_with(kStage))
    return explainStage(plan, asked.substr(kStage.size()));
  const std::string name = nameInPlan(plan, asked);
  std::string result;
  for (const plan::Tensor &tensor : plan.tensors())
    if (tensor.name() == name)
      result += tensorText(plan, tensor);
  for (const plan::Decision &decision : plan.decisions())
    if (decision.name() == name)
      result += (result.empty() ? "" : "\n") + decisionText(decision);
  for (const plan::Program &program : plan.programs())
    if (std::string found = programText(plan, program, name); !found.empty())
      result += (result.empty() ? "" : "\n") + found;
  for (int a = 0; a < plan.mesh_size(); ++a)
    if (concat(plan.mesh(a).name(), "=", plan.mesh(a).size()) == name)
      if (const std::string table = collectiveTable(plan, uint32_t(a)); !table.empty())
        result += "\ncollectives of one step over it (rank 0):\n" + table;
  if (result.empty())
    return unknownName(plan, name);
  return titled(name) + "\n" + result;
}

} // namespace cleave::dump
