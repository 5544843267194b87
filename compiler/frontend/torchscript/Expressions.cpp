// Evaluator.h: expressions except calls.
#include "compiler/frontend/torchscript/Evaluator.h"

#include "compiler/frontend/torchscript/Builtins.h"
#include "compiler/frontend/torchscript/Nesting.h"

namespace cleave::torchscript {

using emit::fail;
using EK = Expression::Kind;

namespace {

// Python's binary operators and the corresponding operators of PyTorch.
constexpr std::pair<const char *, const char *> kOperators[] = {
    {"+", "aten::add"},         {"-", "aten::sub"},       {"*", "aten::mul"},
    {"/", "aten::div"},         {"//", "aten::floordiv"}, {"%", "aten::remainder"},
    {"**", "aten::pow"},        {"@", "aten::matmul"},    {"==", "aten::eq"},
    {"!=", "aten::ne"},         {"<", "aten::lt"},        {"<=", "aten::le"},
    {">", "aten::gt"},          {">=", "aten::ge"},       {"&", "aten::__and__"},
    {"|", "aten::__or__"},      {"^", "aten::__xor__"},   {"<<", "aten::__lshift__"},
    {">>", "aten::__rshift__"}, {"is", "aten::__is__"},   {"is not", "aten::__isnot__"},
};

} // namespace

IValue Evaluator::evaluate(const Expression &expression, Frame &frame) {
  DepthGuard depth(limits_, 1);
  limits_.spend(1);
  switch (expression.kind) {
  case EK::None:
    return {};
  case EK::Bool:
    return IValue(expression.integer != 0);
  case EK::Int:
    return IValue(expression.integer);
  case EK::Float:
    return IValue(expression.number);
  case EK::String:
    limits_.spend(static_cast<int64_t>(expression.text.size() / 64)); // strings are copied
    return IValue(expression.text);
  case EK::Name: {
    auto found = frame.names.find(expression.text);
    if (found == frame.names.end())
      fail("'", expression.text, "' has no value here");
    if (found->second.isString())
      limits_.spend(static_cast<int64_t>(found->second.string().size() / 64));
    return found->second;
  }
  case EK::Attribute:
    return evaluateAttribute(expression, frame);
  case EK::Call:
    return evaluateCall(expression, frame);
  case EK::Index:
  case EK::Slice:
    return evaluateIndex(expression, frame);
  case EK::List:
  case EK::Tuple:
  case EK::Dict:
    return evaluateContainer(expression, frame);
  case EK::Unary:
    return evaluateUnary(expression, frame);
  case EK::Binary:
    return evaluateBinary(expression, frame);
  }
  return {};
}

IValue Evaluator::evaluateContainer(const Expression &expression, Frame &frame) {
  IValueList items;
  for (const ExpressionPtr &item : expression.items)
    items.push_back(evaluate(*item, frame));
  IValue list = IValue::list(items, expression.kind == EK::Tuple);
  limits_.spend(checkNesting(list));
  if (expression.kind != EK::Dict)
    return list;
  auto out = std::make_shared<Dictionary>();
  for (size_t i = 0; i + 1 < items.size(); i += 2)
    out->set(items[i], items[i + 1]);
  return IValue(aten::ObjectRef(out));
}

IValue Evaluator::evaluateUnary(const Expression &expression, Frame &frame) {
  IValue value = evaluate(*expression.items[0], frame);
  if (expression.text == "-" && value.isFloat())
    return IValue(-value.number());
  if (expression.text == "-" && value.isInt())
    return IValue(Polynomial(0) - value.integer());
  if (expression.text == "+")
    return value;
  const char *name = expression.text == "-"   ? "aten::neg"
                     : expression.text == "~" ? "aten::bitwise_not"
                                              : "aten::__not__";
  return operators_.call(name, {value}, {}, frame.path);
}

IValue Evaluator::evaluateBinary(const Expression &expression, Frame &frame) {
  const std::string &text = expression.text;
  IValue left = evaluate(*expression.items[0], frame);
  if (text == "and" || text == "or") {
    std::optional<bool> known = operators_.boolOf(left);
    if (!known)
      fail("'", text, "' of something that depends on data");
    return *known == (text == "or") ? left : evaluate(*expression.items[1], frame);
  }
  IValue right = evaluate(*expression.items[1], frame);
  if (text == "in" || text == "not in") {
    IValue found = operators_.call("aten::__contains__", {right, left}, {}, frame.path);
    return text == "in" ? found : operators_.call("aten::__not__", {found}, {}, frame.path);
  }
  for (const auto &[symbol, name] : kOperators)
    if (text == symbol)
      return operators_.call(name, {left, right}, {}, frame.path);
  fail("found the operator '", text, "', which TorchScript does not have");
}

IValue Evaluator::evaluateIndex(const Expression &expression, Frame &frame) {
  IValue base = evaluate(*expression.items[0], frame);
  auto part = [&](size_t i) {
    return expression.items[i] ? evaluate(*expression.items[i], frame) : IValue();
  };
  if (expression.kind == EK::Slice) {
    IValue out = operators_.call("aten::slice", {base, part(1), part(2), IValue(int64_t(1))}, {},
                                 frame.path);
    if (out.isList())
      out.listRef()->isTuple = base.listRef()->isTuple;
    return out;
  }
  IValue key = part(1);
  if (DictionaryRef dictionary = dictionaryOf(base)) {
    limits_.spend(static_cast<int64_t>(dictionary->items.size() / 16)); // which is searched
    if (IValue *found = dictionary->find(key))
      return *found;
    throw Raised{"the dictionary has no key '" + stringOf(key) + "'"};
  }
  if (base.isList())
    return base.items()[listIndex(base, key)];
  fail("takes an element of ", base.kindName());
}

// `CONSTANTS.c0`, `__torch__.a.b.f`, `torch.add`: the dotted name, unless the first word is a
// variable.
std::optional<std::string> Evaluator::qualifiedName(const Expression &expression,
                                                    const Frame &frame) const {
  std::string name;
  const Expression *at = &expression;
  for (; at->kind == EK::Attribute; at = at->items[0].get())
    name = "." + at->text + name;
  if (at->kind != EK::Name || frame.names.contains(at->text))
    return std::nullopt;
  return at->text + name;
}

IValue Evaluator::evaluateAttribute(const Expression &expression, Frame &frame) {
  if (std::optional<std::string> name = qualifiedName(expression, frame))
    return global(*name);
  return attributeOf(evaluate(*expression.items[0], frame), expression.text, frame);
}

IValue Evaluator::global(const std::string &qualified) {
  if (qualified.starts_with("CONSTANTS."))
    return services_.constant(qualified.substr(10));
  Definition definition = program_.find(qualified);
  size_t dot = qualified.rfind('.');
  Definition owner = definition.type || definition.function || dot == std::string::npos
                         ? Definition()
                         : program_.find(qualified.substr(0, dot));
  if (owner.type && owner.type->base == "Enum") { // a member of an Enum; its value represents it
    auto member = owner.type->constants.find(qualified.substr(dot + 1));
    Frame frame;
    frame.file = owner.file;
    if (member != owner.type->constants.end())
      return evaluate(*member->second, frame);
  }
  if (!definition.type && !definition.function)
    fail("'", qualified, "' is nothing that the archive has");
  auto callable = std::make_shared<Callable>();
  callable->definition = definition;
  return IValue(aten::ObjectRef(callable));
}

IValue Evaluator::attributeOf(const IValue &object, const std::string &name, Frame &frame) {
  if (InstanceRef instance = instanceOf(object)) {
    if (auto found = instance->attributes.find(name); found != instance->attributes.end()) {
      if (!instance->assigned.contains(name))
        instance->readFirst.insert(name);
      return found->second;
    }
    const Class &type = *instance->definition.type;
    if (auto found = type.constants.find(name); found != type.constants.end())
      return evaluate(*found->second, frame);
    fail("an object of class '", type.name, "' has no attribute '", name, "'");
  }
  if (object.isTensor()) { // `x.data`, `x.shape`, …
    std::string op = name == "shape" ? "aten::size" : "prim::" + name;
    return operators_.call(op, {object}, {}, frame.path);
  }
  if (name == "value" && !object.isObject()) // of an Enum's member
    return object;
  fail("takes the attribute '", name, "' of ", object.kindName());
}

} // namespace cleave::torchscript
