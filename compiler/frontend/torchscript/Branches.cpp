// The Evaluator's branches that depend on data. Both sides are computed, and what they give
// different values to is selected element by element. See Evaluator.h.
#include "compiler/frontend/torchscript/Evaluator.h"
#include "compiler/frontend/torchscript/Limits.h"

namespace cleave::torchscript {

using emit::fail;

void Evaluator::checkCertain(const std::string &what) const {
  if (uncertain_ > 0)
    fail(what + " in a branch that depends on data, expected only new values there, which are "
                "computed for both sides and selected from");
}

// The names after the branch; none if it raises an exception.
std::optional<std::map<std::string, Value>> Evaluator::speculate(const Block &block, Frame frame) {
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

Evaluator::Flow Evaluator::runUnknownIf(const Statement &statement, const Value &condition,
                                        Frame &frame) {
  spend(static_cast<int64_t>(2 * frame.names.size()));
  for (const auto &[name, value] : frame.names) // both sides get copies
    spend(static_cast<int64_t>(value.isString() ? value.text().size() / 32 : 0));
  auto yes = speculate(statement.body, frame), no = speculate(statement.otherwise, frame);
  frame.line = statement.line;
  if (!yes && !no)
    throw Raised{"an exception"};
  if (!yes || !no) { // the check of an assertion: data that fails it is the user's concern
    std::string where = frame.file->path + ":" + std::to_string(frame.line);
    if (warned_.insert(where).second)
      services_.remarks.push_back({frontend::Remark::Kind::Warning,
                                   frame.path.empty() ? "the model" : frame.path,
                                   "the check in " + where + " depends on data and is not made"});
    frame.names = yes ? *yes : *no;
    return Flow::Next;
  }
  std::map<std::string, Value> merged;
  for (const auto &[name, value] : *yes)
    if (auto other = no->find(name); other != no->end())
      merged[name] = select(condition, value, other->second, name);
  frame.names = std::move(merged); // what only one side gives has no value behind
  return Flow::Next;
}

Value Evaluator::select(const Value &condition, const Value &a, const Value &b,
                        const std::string &name) {
  spend(a.isList() && b.isList() && !isSame(a, b) ? 512 : 1); // lists are compared
  if (isSame(a, b) || (!a.isTensor() && !b.isTensor() && isEqual(a, b)))
    return a;
  if (a.isList() && b.isList() && a.items().size() == b.items().size()) {
    ValueList items;
    for (size_t i = 0; i < a.items().size(); ++i)
      items.push_back(select(condition, a.items()[i], b.items()[i], name));
    return Value::list(std::move(items), a.listRef()->isTuple);
  }
  if (!a.isTensor() || !b.isTensor())
    fail("a branch that depends on data gives '" + name + "' " + a.kindName() + " or " +
         b.kindName() + ", expected tensors, from which can be selected");
  emit::Emitter &emitter = services_.context.emitter;
  mlir::Type left = a.tensor()->read(emitter).getType(),
             right = b.tensor()->read(emitter).getType();
  if (left != right)
    fail("a branch that depends on data gives '" + name +
         "' different shapes or types, expected the same from both sides");
  return aten::call(services_.context, "aten::where", {condition, a, b}).at(0);
}

} // namespace cleave::torchscript
