// ScriptInterpreter.h: branches that depend on data. Both sides are computed; variables with
// different values are selected element by element.
#include "compiler/frontend/torchscript/ScriptInterpreter.h"

namespace cleave::torchscript {

using emit::fail;

// The names after the branch; none if it raises an exception.
std::optional<std::map<std::string, IValue>> ScriptInterpreter::speculate(const Block &block,
                                                                          Frame frame) {
  ++limits_.uncertain;
  int depth = limits_.depth;
  try {
    if (run(block, frame) == Flow::Return)
      fail("a branch that depends on data returns; assign the result and return it behind");
  } catch (const Raised &raised) {
    --limits_.uncertain;
    limits_.depth = depth;
    return std::nullopt;
  } catch (...) {
    --limits_.uncertain;
    throw;
  }
  --limits_.uncertain;
  return frame.names;
}

ScriptInterpreter::Flow ScriptInterpreter::runUnknownIf(const Statement &statement,
                                                        const IValue &condition, Frame &frame) {
  limits_.spend(static_cast<int64_t>(2 * frame.names.size()));
  for (const auto &[name, value] : frame.names) // both sides get copies
    limits_.spend(static_cast<int64_t>(value.isString() ? value.string().size() / 32 : 0));
  auto yes = speculate(statement.body, frame), no = speculate(statement.otherwise, frame);
  frame.line = statement.line;
  if (!yes && !no)
    throw Raised{"an exception"};
  if (!yes || !no) { // one side only raises: an assertion, which is assumed to hold
    std::string where = frame.file->path + ":" + std::to_string(frame.line);
    if (warned_.insert(where).second)
      services_.remarks.push_back({frontend::Remark::Kind::Warning,
                                   frame.path.empty() ? "the model" : frame.path,
                                   "the check in " + where + " depends on data and is not made"});
    frame.names = yes ? *yes : *no;
    return Flow::Next;
  }
  std::map<std::string, IValue> merged;
  for (const auto &[name, value] : *yes)
    if (auto other = no->find(name); other != no->end())
      merged[name] = operators_.select(condition, value, other->second, name);
  frame.names = std::move(merged); // variables of one side only have no value afterwards
  return Flow::Next;
}

} // namespace cleave::torchscript
