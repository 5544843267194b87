// ScriptInterpreter.h: statements, and calls of methods, functions and constructors.
#include "compiler/frontend/emit/Emitter.h"
#include "compiler/frontend/torchscript/Builtins.h"
#include "compiler/frontend/torchscript/Nesting.h"
#include "compiler/frontend/torchscript/ScriptInterpreter.h"
#include "dialects/graph/F32Region.h"

#include "llvm/ADT/ScopeExit.h"

namespace cleave::torchscript {

using emit::fail;
using SK = Statement::Kind;
using EK = Expression::Kind;

namespace {

constexpr int64_t kMaxIterations = 100000;

} // namespace

// -- calls
IValue ScriptInterpreter::callMethod(const InstanceRef &self, const std::string &method,
                                     IValueList positional, Keywords keyword) {
  auto found = self->definition.type->methods.find(method);
  if (found == self->definition.type->methods.end())
    fail("the class '", self->definition.type->name, "' has no method '", method, "'");
  const IValue object{aten::ObjectRef(self)};
  IValueList all{object};
  all.insert(all.end(), positional.begin(), positional.end());
  return callFunction(self->definition, found->second, self->path, std::move(all),
                      std::move(keyword));
}

IValue ScriptInterpreter::callFunction(const Definition &definition, const Function &function,
                                       const std::string &path, IValueList positional,
                                       Keywords keyword) {
  DepthGuard depth(limits_, kCallWeight);
  Frame frame;
  frame.file = definition.file;
  frame.path = path;
  frame.line = function.line;
  if (positional.size() > function.parameters.size())
    fail("'", function.name, "' is called with ", positional.size(),
         " arguments, expected at most ", function.parameters.size());
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter &parameter = function.parameters[i];
    auto named = keyword.find(parameter.name);
    if (i < positional.size())
      frame.names[parameter.name] = positional[i];
    else if (named != keyword.end())
      frame.names[parameter.name] = named->second;
    else if (parameter.absent)
      frame.names[parameter.name] = evaluator_.evaluate(*parameter.absent, frame);
    else
      fail("'", function.name, "' is called without its argument '", parameter.name, "'");
  }
  run(function.body, frame);
  return frame.result;
}

IValue ScriptInterpreter::construct(const Definition &definition, const std::string &path,
                                    IValueList positional, Keywords keyword) {
  if (definition.type->base == "NamedTuple") {
    for (size_t i = positional.size(); i < definition.type->fields.size(); ++i)
      positional.push_back(keyword[definition.type->fields[i]]);
    IValue tuple = IValue::list(std::move(positional), /*isTuple=*/true);
    limits_.spend(checkNesting(tuple));
    return tuple;
  }
  auto object = std::make_shared<Instance>();
  object->definition = definition;
  object->path = path;
  if (definition.type->methods.contains("__init__"))
    callMethod(object, "__init__", std::move(positional), std::move(keyword));
  return IValue(aten::ObjectRef(object));
}

// -- statements
std::string ScriptInterpreter::placeOf(const Frame &frame) {
  std::string where = frame.file->path + ":" + std::to_string(frame.line);
  return frame.path.empty() ? where : frame.path + " (" + where + ")";
}

ScriptInterpreter::Flow ScriptInterpreter::run(const Block &block, Frame &frame) {
  for (const Statement &statement : block) {
    try {
      if (run(statement, frame) == Flow::Return)
        return Flow::Return;
    } catch (const emit::Failure &failure) {
      if (located_)
        throw;
      located_ = true;
      throw emit::Failure{failure.status.withContext(placeOf(frame))};
    } catch (const Raised &raised) {
      if (limits_.uncertain > 0)
        throw;
      located_ = true;
      fail(placeOf(frame), ": the program raises ", raised.what);
    }
  }
  return Flow::Next;
}

ScriptInterpreter::Flow ScriptInterpreter::run(const Statement &statement, Frame &frame) {
  DepthGuard depth(limits_, 1);
  frame.line = statement.line;
  limits_.spend(1);
  switch (statement.kind) {
  case SK::Pass:
    return Flow::Next;
  case SK::Expression:
    evaluator_.evaluate(*statement.value, frame);
    return Flow::Next;
  case SK::Assign: {
    IValue value = evaluator_.evaluate(*statement.value, frame);
    assign(*statement.target, std::move(value), frame);
    return Flow::Next;
  }
  case SK::If:
    return runIf(statement, frame);
  case SK::For:
    return runFor(statement, frame);
  case SK::While:
    return runWhile(statement, frame);
  case SK::With:
    return runWith(statement, frame);
  case SK::Return:
    if (statement.value)
      frame.result = evaluator_.evaluate(*statement.value, frame);
    return Flow::Return;
  case SK::Raise:
    throw Raised{"an exception"};
  case SK::Assert:
    if (operators_.boolOf(evaluator_.evaluate(*statement.value, frame)) == false)
      throw Raised{"an assertion that does not hold"};
    return Flow::Next;
  }
  return Flow::Next;
}

ScriptInterpreter::Flow ScriptInterpreter::runIf(const Statement &statement, Frame &frame) {
  IValue condition = evaluator_.evaluate(*statement.value, frame);
  if (std::optional<bool> known = operators_.boolOf(condition))
    return run(*known ? statement.body : statement.otherwise, frame);
  return runUnknownIf(statement, condition, frame);
}

ScriptInterpreter::Flow ScriptInterpreter::runFor(const Statement &statement, Frame &frame) {
  IValue over = evaluator_.evaluate(*statement.value, frame); // a list: range() makes one, too
  if (!over.isList())
    fail("a loop goes over ", over.kindName(), ", expected a range or a list");
  IValueList items = over.items();
  limits_.spend(static_cast<int64_t>(items.size()));
  for (IValue &item : items) {
    assign(*statement.target, std::move(item), frame);
    if (run(statement.body, frame) == Flow::Return)
      return Flow::Return;
  }
  return Flow::Next;
}

ScriptInterpreter::Flow ScriptInterpreter::runWhile(const Statement &statement, Frame &frame) {
  for (int64_t i = 0;; ++i) {
    frame.line = statement.line;
    std::optional<bool> goesOn = operators_.boolOf(evaluator_.evaluate(*statement.value, frame));
    if (!goesOn)
      fail("how often this loop runs depends on data; expected a number of rounds that follows "
           "from shapes and constants");
    if (!*goesOn)
      return Flow::Next;
    if (i == kMaxIterations)
      fail("this loop runs more than ", kMaxIterations, " times");
    if (run(statement.body, frame) == Flow::Return)
      return Flow::Return;
  }
}

// Whether the object disables torch.autocast.
static bool disablesAutocast(const Instance &object, llvm::StringRef name) {
  auto enabled = object.attributes.find("_enabled");
  return name == "autocast" && enabled != object.attributes.end() && enabled->second.isBool() &&
         !enabled->second.boolean();
}

// Runs the body. no_grad and enable_grad switch gradients, and a disabled autocast lets the ops
// stay f32; other contexts have no effect but that of their __enter__.
ScriptInterpreter::Flow ScriptInterpreter::runWith(const Statement &statement, Frame &frame) {
  IValue context = evaluator_.evaluate(*statement.value, frame);
  InstanceRef object = instanceOf(context);
  std::string name = object ? object->definition.type->name : "";
  bool isNoGrad = name == "no_grad", isGrad = name == "enable_grad";
  if (object && !isNoGrad && !isGrad && object->definition.type->methods.contains("__enter__"))
    context = callMethod(object, "__enter__", {});
  if (statement.target)
    assign(*statement.target, context, frame);
  bool &gradients = services_.context.gradients;
  llvm::scope_exit restore([&, before = gradients] { gradients = before; });
  if (isNoGrad || isGrad)
    gradients = isGrad;
  std::optional<graph::F32RegionScope> region;
  if (object && disablesAutocast(*object, name))
    region.emplace(services_.context.emitter.b, /*isInside=*/true);
  return run(statement.body, frame);
}

void ScriptInterpreter::assign(const Expression &target, IValue value, Frame &frame) {
  switch (target.kind) {
  case EK::Name:
    frame.names[target.text] = std::move(value);
    return;
  case EK::Attribute:
    setAttribute(evaluator_.evaluate(*target.items[0], frame), target.text, std::move(value));
    return;
  case EK::Index:
    setItem(evaluator_.evaluate(*target.items[0], frame),
            evaluator_.evaluate(*target.items[1], frame), std::move(value));
    return;
  case EK::Tuple:
  case EK::List: {
    if (!value.isList() || value.items().size() != target.items.size())
      fail("gives ", value.kindName(), " to ", target.items.size(), " names");
    IValueList parts = value.items();
    for (size_t i = 0; i < parts.size(); ++i)
      assign(*target.items[i], parts[i], frame);
    return;
  }
  default:
    fail("assigns to something that is not a name");
  }
}

void ScriptInterpreter::setAttribute(const IValue &object, const std::string &name, IValue value) {
  InstanceRef instance = instanceOf(object);
  if (!instance)
    fail("sets the attribute '", name, "' of ", object.kindName());
  limits_.checkCertain("sets the attribute '" + name + "'");
  limits_.checkFits(value, object);
  instance->attributes[name] = std::move(value);
  instance->assigned.insert(name);
}

void ScriptInterpreter::setItem(const IValue &container, const IValue &key, IValue value) {
  limits_.checkCertain("sets an element");
  limits_.checkFits(value, container);
  limits_.checkFits(key, container);
  if (DictionaryRef dictionary = dictionaryOf(container)) {
    limits_.spend(static_cast<int64_t>(dictionary->items.size() / 16)); // which is searched
    dictionary->set(key, std::move(value));
    return;
  }
  if (!container.isList() || !key.isInt())
    fail("sets an element of ", container.kindName());
  container.listRef()->items[listIndex(container, key)] = std::move(value);
}

} // namespace cleave::torchscript
