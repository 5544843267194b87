// See Operators.h.
#include "compiler/frontend/torchscript/Operators.h"

#include "compiler/frontend/torchscript/Builtins.h"

#include <algorithm>

namespace cleave::torchscript {

using emit::fail;

int64_t weightOf(const IValue &value) {
  size_t weight = value.isString() ? value.string().size() / 64 : 0;
  auto add = [&](const IValue &item) {
    weight += 1 + (item.isString() ? item.string().size() / 64 : 0);
  };
  if (value.isList())
    std::for_each(value.items().begin(), value.items().end(), add);
  else if (DictionaryRef dictionary = dictionaryOf(value))
    for (const auto &[key, item] : dictionary->items)
      add(key), add(item);
  return static_cast<int64_t>(weight);
}

// Whether the operator's name marks it as in-place; `__and__` is not.
static bool writes(const std::string &name) {
  static constexpr const char *containers[] = {"append",  "clear", "extend",    "insert", "pop",
                                               "reverse", "sort",  "_set_item", "update"};
  for (const char *container : containers)
    if (name == std::string("aten::") + container)
      return true;
  return aten::isInPlace(name);
}

// The number of writes to the tensors among the arguments. Operators may write although their names
// do not mark them as in-place: batch norms update their statistics.
static int64_t writesTo(const IValueList &positional, const Keywords &keyword) {
  int64_t count = 0;
  auto add = [&](const IValue &value) {
    if (value.isTensor() && value.tensor()->storage())
      count += value.tensor()->storage()->version;
  };
  for (const IValue &value : positional)
    add(value);
  for (const auto &[argument, value] : keyword)
    add(value);
  return count;
}

IValue Operators::call(const std::string &name, IValueList positional, Keywords keyword,
                       const std::string &path) {
  toTodaysMeaning(services_.version, name, positional, keyword, services_.context.emitter);
  if (writes(name)) {
    limits_.checkCertain(name + " writes");
    if (positional.empty()) // the list determines the type
      fail("calls ", name, " with names only, expected what it writes to in front");
    for (size_t i = 1; i < positional.size(); ++i)
      limits_.checkFits(positional[i], positional[0]);
    for (const auto &[argument, value] : keyword)
      limits_.checkFits(value, positional[0]);
  }
  limits_.countOperator();
  for (const IValue &argument : positional)
    limits_.spend(weightOf(argument) / 64); // operators visit every item
  for (const auto &[argument, value] : keyword)
    limits_.spend(weightOf(value) / 64);
  if (std::optional<IValue> value = callBuiltin(name, positional)) {
    limits_.spend(weightOf(*value));
    return *value;
  }
  if (!aten::knows(name))
    throw UnknownOperator{name};
  size_t colons = name.find("::");
  services_.locate(path, name.substr(colons + 2));
  int64_t written = writesTo(positional, keyword);
  try {
    IValueList results = aten::call(services_.context, name, positional, keyword);
    if (writesTo(positional, keyword) != written)
      limits_.checkCertain(name + " writes");
    for (const IValue &result : results)
      limits_.spend(weightOf(result));
    if (results.empty())
      return {};
    return results.size() == 1 ? results[0] : IValue::list(std::move(results), /*isTuple=*/true);
  } catch (const emit::Failure &failure) {
    const std::string &said = failure.status.message();
    throw said.starts_with(name) ? failure : emit::Failure{failure.status.withContext(name)};
  }
}

std::optional<bool> Operators::boolOf(const IValue &value) {
  if (value.isBool())
    return value.boolean();
  if (value.isNone())
    return false;
  if (value.isFloat())
    return value.number() != 0;
  if (value.isList())
    return !value.items().empty();
  if (value.isString())
    return !value.string().empty();
  if (value.isObject())
    return true;
  if (value.isInt()) {
    std::optional<int64_t> known = value.integer().constant();
    return known ? std::optional(*known != 0) : std::nullopt;
  }
  try {
    return aten::boolOf(services_.context, value, "condition");
  } catch (const emit::Failure &) {
    return std::nullopt; // it depends on data
  }
}

IValue Operators::select(const IValue &condition, const IValue &a, const IValue &b,
                         const std::string &name) {
  limits_.spend(a.isList() && b.isList() && !isSame(a, b) ? 512 : 1); // lists are compared
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
