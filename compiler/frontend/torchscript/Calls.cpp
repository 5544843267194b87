// Evaluator.h: call expressions. The callee is a keyword, a function or method of the
// program, or an operator.
#include "compiler/frontend/torchscript/Builtins.h"
#include "compiler/frontend/torchscript/Evaluator.h"
#include "compiler/frontend/torchscript/ScriptInterpreter.h"

namespace cleave::torchscript {

using emit::fail;
using EK = Expression::Kind;

IValueList Evaluator::arguments(const Expression &call, size_t from, Frame &frame) {
  IValueList out;
  for (size_t i = from; i < call.items.size(); ++i)
    out.push_back(evaluate(*call.items[i], frame));
  return out;
}

Keywords Evaluator::keywords(const Expression &call, Frame &frame) {
  Keywords out;
  for (const auto &[name, value] : call.keywords)
    out[name] = evaluate(*value, frame);
  return out;
}

IValue Evaluator::evaluateCall(const Expression &call, Frame &frame) {
  const Expression &callee = *call.items[0];
  if (callee.kind == EK::Name && !frame.names.contains(callee.text))
    if (std::optional<IValue> value = callWord(call, callee.text, frame))
      return *value;
  if (callee.kind == EK::Attribute) {
    if (std::optional<std::string> name = qualifiedName(callee, frame))
      return callQualified(call, *name, frame);
    IValue object = evaluate(*callee.items[0], frame);
    if (InstanceRef instance = instanceOf(object)) {
      IValueList positional = arguments(call, 1, frame);
      return functions_.callMethod(instance, callee.text, std::move(positional),
                                   keywords(call, frame));
    }
    if (object.isTensor()) { // a method of tensors is the operator of that name
      IValueList positional = arguments(call, 1, frame);
      positional.insert(positional.begin(), object);
      return operators_.call("aten::" + callee.text, std::move(positional), keywords(call, frame),
                             frame.path);
    }
  }
  IValue function = evaluate(callee, frame);
  IValueList positional = arguments(call, 1, frame);
  return callValue(function, std::move(positional), keywords(call, frame), frame);
}

IValue Evaluator::callValue(const IValue &callee, IValueList positional, Keywords keyword,
                            Frame &frame) {
  auto callable =
      callee.isObject() ? std::dynamic_pointer_cast<Callable>(callee.object()) : nullptr;
  if (!callable)
    fail("calls ", callee.kindName());
  const Definition &definition = callable->definition;
  if (definition.type)
    return functions_.construct(definition, frame.path, std::move(positional), std::move(keyword));
  return functions_.callFunction(definition, *definition.function, frame.path,
                                 std::move(positional), std::move(keyword));
}

// Keywords of the language: conversions, annotations, `getattr`.
std::optional<IValue> Evaluator::callWord(const Expression &call, const std::string &word,
                                          Frame &frame) {
  size_t count = call.items.size() - 1;
  if ((word == "annotate" || word == "unchecked_cast") && count == 2)
    return evaluate(*call.items[2], frame);
  if (word == "uninitialized" && count == 1)
    return IValue();
  if ((word == "unchecked_unwrap_optional" || word == "unwrap_optional") && count == 1)
    return evaluate(*call.items[1], frame);
  if (word == "isinstance" && count == 2)
    return IValue(isInstance(evaluate(*call.items[1], frame), *call.items[2], frame));
  if (word == "getattr" && count == 2 && call.items[2]->kind == EK::String)
    return attributeOf(evaluate(*call.items[1], frame), call.items[2]->text, frame);
  if (word == "range") {
    IValue range = rangeOf(arguments(call, 1, frame));
    limits_.spend(weightOf(range));
    return range;
  }
  if (word == "print")
    return IValue();
  static const std::pair<const char *, const char *> conversions[] = {
      {"int", "aten::Int"},   {"float", "aten::Float"}, {"bool", "aten::Bool"},
      {"str", "aten::str"},   {"len", "aten::len"},     {"list", "aten::list"},
      {"abs", "prim::abs"},   {"min", "prim::min"},     {"max", "prim::max"},
      {"dict", "aten::dict"}, {"round", "aten::round"},
  };
  for (const auto &[name, op] : conversions)
    if (word == name) {
      IValueList positional = arguments(call, 1, frame);
      if (word == "bool" && positional.size() == 1 && positional[0].isTensor()) {
        std::optional<bool> known = operators_.boolOf(positional[0]);
        return known ? IValue(*known) : positional[0]; // a condition that depends on data
      }
      return operators_.call(op, std::move(positional), {}, frame.path);
    }
  return std::nullopt;
}

// `torch.add(…)`, `ops.prim.dtype(…)`, `__torch__.a.b.f(…)`.
IValue Evaluator::callQualified(const Expression &call, const std::string &name, Frame &frame) {
  if (name.starts_with("__torch__.")) {
    if (name.ends_with(".__new__")) { // the object whose __init__ is called next
      auto object = std::make_shared<Instance>();
      object->definition = program_.findClass(name.substr(0, name.size() - 8));
      object->path = frame.path;
      return IValue(aten::ObjectRef(object));
    }
    IValue function = global(name);
    IValueList positional = arguments(call, 1, frame);
    return callValue(function, std::move(positional), keywords(call, frame), frame);
  }
  IValueList positional = arguments(call, 1, frame);
  Keywords keyword = keywords(call, frame);
  if (name == "torch.device")
    return positional.empty() ? IValue("cpu") : positional[0];
  if (name.starts_with("torch."))
    return operators_.call("aten::" + name.substr(6), std::move(positional), keyword, frame.path);
  if (name.starts_with("ops.")) {
    size_t dot = name.find('.', 4);
    if (dot != std::string::npos)
      return operators_.call(name.substr(4, dot - 4) + "::" + name.substr(dot + 1),
                             std::move(positional), keyword, frame.path);
  }
  fail("calls '", name, "', which is no operator");
}

bool Evaluator::isInstance(const IValue &value, const Expression &type, Frame &frame) {
  if (type.kind == EK::Tuple || type.kind == EK::List) {
    for (const ExpressionPtr &one : type.items)
      if (isInstance(value, *one, frame))
        return true;
    return false;
  }
  const Expression &base = type.kind == EK::Index ? *type.items[0] : type;
  std::string name = qualifiedName(base, frame).value_or("");
  if (InstanceRef instance = instanceOf(value))
    return program_.find(name).type == instance->definition.type;
  if (name == "Optional" && type.kind == EK::Index)
    return value.isNone() || isInstance(value, *type.items[1], frame);
  bool isTuple = value.isList() && value.listRef()->isTuple;
  return (name == "Tensor" && value.isTensor()) || (name == "int" && value.isInt()) ||
         (name == "float" && value.isFloat()) || (name == "bool" && value.isBool()) ||
         (name == "str" && value.isString()) || (name == "NoneType" && value.isNone()) ||
         (name == "List" && value.isList() && !isTuple) || (name == "Tuple" && isTuple) ||
         (name == "Dict" && dictionaryOf(value)) ||
         (name == "number" && (value.isInt() || value.isFloat()));
}

} // namespace cleave::torchscript
