// ScriptInterpreter.h: branches that depend on data. Both sides are computed; variables with
// different values are selected element by element.
#include "compiler/frontend/torchscript/Limits.h"
#include "compiler/frontend/torchscript/ScriptInterpreter.h"

namespace cleave::torchscript {

using emit::fail;

void ScriptInterpreter::checkCertain(const std::string &what) const {
  if (uncertain_ > 0)
    fail(what, " in a branch that depends on data, expected only new values there, which are "
               "computed for both sides and selected from");
}

// The names after the branch; none if it raises an exception.
std::optional<std::map<std::string, IValue>> ScriptInterpreter::speculate(const Block &block,
                                                                          Frame frame) {
  ++uncertain_;
  int depth = depth_;
  try {
    if (run(block, frame) == Flow::Return)
      fail("a branch that depends on data returns; assign the result and return it behind");
  } catch (const Raised &raised) {
    --uncertain_;
    depth_ = depth;
    return std::nullopt;
  } catch (...) {
    --uncertain_;
    throw;
  }
  --uncertain_;
  return frame.names;
}

ScriptInterpreter::Flow ScriptInterpreter::runUnknownIf(const Statement &statement,
                                                        const IValue &condition, Frame &frame) {
  spend(static_cast<int64_t>(2 * frame.names.size()));
  for (const auto &[name, value] : frame.names) // both sides get copies
    spend(static_cast<int64_t>(value.isString() ? value.string().size() / 32 : 0));
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
      merged[name] = select(condition, value, other->second, name);
  frame.names = std::move(merged); // variables of one side only have no value afterwards
  return Flow::Next;
}

IValue ScriptInterpreter::select(const IValue &condition, const IValue &a, const IValue &b,
                                 const std::string &name) {
  spend(a.isList() && b.isList() && !isSame(a, b) ? 512 : 1); // lists are compared
  if (isSame(a, b) || (!a.isTensor() && !b.isTensor() && isEqual(a, b)))
    return a;
  if (a.isList() && b.isList() && a.items().size() == b.items().size()) {
    IValueList items;
    for (size_t i = 0; i < a.items().size(); ++i)
      items.push_back(select(condition, a.items()[i], b.items()[i], name));
    return IValue::list(std::move(items), a.listRef()->isTuple);
  }
  if (!a.isTensor() || !b.isTensor())
    fail("a branch that depends on data gives '", name, "' ", a.kindName(), " or ", b.kindName(),
         ", expected tensors, from which can be selected");
  emit::Emitter &emitter = services_.context.emitter;
  mlir::Type left = a.tensor()->read(emitter).getType(),
             right = b.tensor()->read(emitter).getType();
  if (left != right)
    fail("a branch that depends on data gives '", name,
         "' different shapes or types, expected the same from both sides");
  return aten::call(services_.context, "aten::where", {condition, a, b}).at(0);
}

} // namespace cleave::torchscript
