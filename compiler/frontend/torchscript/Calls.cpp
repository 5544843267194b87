// The Evaluator's call expressions: what is called (a word of the language, a function of the
// program, a method, an operator) and with which arguments. See Evaluator.h.
#include "compiler/frontend/torchscript/Builtins.h"
#include "compiler/frontend/torchscript/Evaluator.h"
#include "compiler/frontend/torchscript/Limits.h"

#include <algorithm>

namespace cleave::torchscript {

using emit::fail;
using EK = Expression::Kind;

static constexpr int64_t kMaxOperators = int64_t(1) << 16;

// How much memory a value takes that is made by one call.
static int64_t weightOf(const Value &value) {
  size_t weight = value.isString() ? value.text().size() / 64 : 0;
  auto add = [&](const Value &item) {
    weight += 1 + (item.isString() ? item.text().size() / 64 : 0);
  };
  if (value.isList())
    std::for_each(value.items().begin(), value.items().end(), add);
  else if (DictionaryRef dictionary = dictionaryOf(value))
    for (const auto &[key, item] : dictionary->items)
      add(key), add(item);
  return static_cast<int64_t>(weight);
}

ValueList Evaluator::arguments(const Expression &call, size_t from, Frame &frame) {
  ValueList out;
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

Value Evaluator::evaluateCall(const Expression &call, Frame &frame) {
  const Expression &callee = *call.items[0];
  if (callee.kind == EK::Name && !frame.names.contains(callee.text))
    if (std::optional<Value> value = callWord(call, callee.text, frame))
      return *value;
  if (callee.kind == EK::Attribute) {
    if (std::optional<std::string> name = qualifiedName(callee, frame))
      return callQualified(call, *name, frame);
    Value object = evaluate(*callee.items[0], frame);
    if (InstanceRef instance = instanceOf(object)) {
      ValueList positional = arguments(call, 1, frame);
      return callMethod(instance, callee.text, std::move(positional), keywords(call, frame));
    }
    if (object.isTensor()) { // a method of tensors is the operator of that name
      ValueList positional = arguments(call, 1, frame);
      positional.insert(positional.begin(), object);
      return callOperator("aten::" + callee.text, std::move(positional), keywords(call, frame),
                          frame);
    }
  }
  Value function = evaluate(callee, frame);
  ValueList positional = arguments(call, 1, frame);
  return callValue(function, std::move(positional), keywords(call, frame), frame);
}

Value Evaluator::callValue(const Value &callee, ValueList positional, Keywords keyword,
                           Frame &frame) {
  auto callable =
      callee.isObject() ? std::dynamic_pointer_cast<Callable>(callee.object()) : nullptr;
  if (!callable)
    fail("calls " + callee.kindName());
  const Definition &definition = callable->definition;
  if (definition.type)
    return construct(definition, frame.path, std::move(positional), std::move(keyword));
  return callFunction(definition, *definition.function, frame.path, std::move(positional),
                      std::move(keyword));
}

// Words of the language: conversions, annotations, `getattr`.
std::optional<Value> Evaluator::callWord(const Expression &call, const std::string &word,
                                         Frame &frame) {
  size_t count = call.items.size() - 1;
  if ((word == "annotate" || word == "unchecked_cast") && count == 2)
    return evaluate(*call.items[2], frame);
  if (word == "uninitialized" && count == 1)
    return Value();
  if ((word == "unchecked_unwrap_optional" || word == "unwrap_optional") && count == 1)
    return evaluate(*call.items[1], frame);
  if (word == "isinstance" && count == 2)
    return Value(isInstance(evaluate(*call.items[1], frame), *call.items[2], frame));
  if (word == "getattr" && count == 2 && call.items[2]->kind == EK::String)
    return attributeOf(evaluate(*call.items[1], frame), call.items[2]->text, frame);
  if (word == "range") {
    Value range = rangeOf(arguments(call, 1, frame));
    spend(weightOf(range));
    return range;
  }
  if (word == "print")
    return Value();
  static const std::pair<const char *, const char *> conversions[] = {
      {"int", "aten::Int"},   {"float", "aten::Float"}, {"bool", "aten::Bool"},
      {"str", "aten::str"},   {"len", "aten::len"},     {"list", "aten::list"},
      {"abs", "prim::abs"},   {"min", "prim::min"},     {"max", "prim::max"},
      {"dict", "aten::dict"}, {"round", "aten::round"},
  };
  for (const auto &[name, op] : conversions)
    if (word == name) {
      ValueList positional = arguments(call, 1, frame);
      if (word == "bool" && positional.size() == 1 && positional[0].isTensor()) {
        std::optional<bool> known = truthOf(positional[0], frame);
        return known ? Value(*known) : positional[0]; // a condition that depends on data
      }
      return callOperator(op, std::move(positional), {}, frame);
    }
  return std::nullopt;
}

// `torch.add(…)`, `ops.prim.dtype(…)`, `__torch__.a.b.f(…)`.
Value Evaluator::callQualified(const Expression &call, const std::string &name, Frame &frame) {
  if (name.starts_with("__torch__.")) {
    if (name.ends_with(".__new__")) { // the object whose __init__ is called next
      auto object = std::make_shared<Instance>();
      object->definition = program_.findClass(name.substr(0, name.size() - 8));
      object->path = frame.path;
      return Value(aten::ObjectRef(object));
    }
    Value function = global(name);
    ValueList positional = arguments(call, 1, frame);
    return callValue(function, std::move(positional), keywords(call, frame), frame);
  }
  ValueList positional = arguments(call, 1, frame);
  Keywords keyword = keywords(call, frame);
  if (name == "torch.device")
    return positional.empty() ? Value("cpu") : positional[0];
  if (name.starts_with("torch."))
    return callOperator("aten::" + name.substr(6), std::move(positional), keyword, frame);
  if (name.starts_with("ops.")) {
    size_t dot = name.find('.', 4);
    if (dot != std::string::npos)
      return callOperator(name.substr(4, dot - 4) + "::" + name.substr(dot + 1),
                          std::move(positional), keyword, frame);
  }
  fail("calls '" + name + "', which is no operator");
}

// Whether the operator changes a tensor or a container; `__and__` does not.
static bool writes(const std::string &name) {
  static constexpr const char *containers[] = {"append",  "clear", "extend",    "insert", "pop",
                                               "reverse", "sort",  "_set_item", "update"};
  for (const char *container : containers)
    if (name == std::string("aten::") + container)
      return true;
  return aten::isInPlace(name);
}

// How often the tensors among the arguments were written. Operators may write that do not say so by
// their names: batch norms move their statistics.
static int64_t writesTo(const ValueList &positional, const Keywords &keyword) {
  int64_t count = 0;
  auto add = [&](const Value &value) {
    if (value.isTensor() && value.tensor()->storage())
      count += value.tensor()->storage()->version;
  };
  for (const Value &value : positional)
    add(value);
  for (const auto &[argument, value] : keyword)
    add(value);
  return count;
}

Value Evaluator::callOperator(const std::string &name, ValueList positional, Keywords keyword,
                              Frame &frame) {
  toTodaysMeaning(services_.version, name, positional, keyword, services_.context.emitter);
  if (writes(name)) {
    checkCertain(name + " writes");
    if (positional.empty()) // what fits is checked against it
      fail("calls " + name + " with names only, expected what it writes to in front");
    for (size_t i = 1; i < positional.size(); ++i)
      checkFits(positional[i], positional[0]);
    for (const auto &[argument, value] : keyword)
      checkFits(value, positional[0]);
  }
  if (++operators_ > kMaxOperators)
    fail("the program calls more than " + std::to_string(kMaxOperators) +
         " operators when its loops are unrolled");
  for (const Value &argument : positional)
    spend(weightOf(argument) / 64); // operators look at every item
  for (const auto &[argument, value] : keyword)
    spend(weightOf(value) / 64);
  if (std::optional<Value> value = callBuiltin(name, positional)) {
    spend(weightOf(*value));
    return *value;
  }
  if (!aten::knows(name))
    throw UnknownOperator{name};
  size_t colons = name.find("::");
  services_.locate(frame.path, name.substr(colons + 2));
  int64_t written = writesTo(positional, keyword);
  try {
    ValueList results = aten::call(services_.context, name, positional, keyword);
    if (writesTo(positional, keyword) != written)
      checkCertain(name + " writes");
    for (const Value &result : results)
      spend(weightOf(result));
    if (results.empty())
      return {};
    return results.size() == 1 ? results[0] : Value::list(std::move(results), /*isTuple=*/true);
  } catch (const emit::Failure &failure) {
    const std::string &said = failure.status.message();
    throw said.starts_with(name) ? failure : emit::Failure{failure.status.withContext(name)};
  }
}

bool Evaluator::isInstance(const Value &value, const Expression &type, Frame &frame) {
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
