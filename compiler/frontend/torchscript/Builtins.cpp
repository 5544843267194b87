// See Builtins.h.
#include "compiler/frontend/torchscript/Builtins.h"

#include "compiler/frontend/torchscript/Limits.h"

#include <algorithm>
#include <limits>

namespace cleave::torchscript {
namespace {

using emit::fail;

constexpr int64_t kMaxRange = 100000;
constexpr size_t kMaxText = 1 << 16, kMaxItems = 1 << 17, kMaxPairs = 4096;

using Builtin = std::optional<Value> (*)(const ValueList &);

int64_t integerAt(const ValueList &arguments, size_t i) {
  if (i < arguments.size() && arguments[i].isInt())
    if (std::optional<int64_t> known = arguments[i].integer().constant())
      return *known;
  fail("expected a known integer as argument " + std::to_string(i));
}

// Fails where a string gets longer than programs have use for.
void checkLength(const std::string &text) {
  if (text.size() > kMaxText)
    fail("makes a string of more than " + std::to_string(kMaxText) + " characters");
}

bool isString(const ValueList &arguments, size_t i) {
  return i < arguments.size() && arguments[i].isString();
}

DictionaryRef dictionaryAt(const ValueList &arguments, size_t i) {
  return i < arguments.size() ? dictionaryOf(arguments[i]) : nullptr;
}

// -- strings
std::optional<Value> format(const ValueList &arguments) {
  if (!isString(arguments, 0))
    return std::nullopt;
  std::string out, pattern = arguments[0].text();
  size_t next = 1;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern.compare(i, 2, "{}") == 0 && next < arguments.size()) {
      out += textOf(arguments[next++]);
      ++i;
    } else {
      out += pattern[i];
    }
    checkLength(out);
  }
  return Value(out);
}

std::optional<Value> addStrings(const ValueList &arguments) {
  if (!isString(arguments, 0) || !isString(arguments, 1))
    return std::nullopt;
  std::string out = arguments[0].text() + arguments[1].text();
  checkLength(out);
  return Value(out);
}

std::optional<Value> find(const ValueList &arguments) {
  if (!isString(arguments, 0) || !isString(arguments, 1))
    return std::nullopt;
  size_t at = arguments[0].text().find(arguments[1].text());
  return Value(at == std::string::npos ? int64_t(-1) : static_cast<int64_t>(at));
}

std::optional<Value> startsWith(const ValueList &arguments) {
  if (!isString(arguments, 0) || !isString(arguments, 1))
    return std::nullopt;
  return Value(arguments[0].text().starts_with(arguments[1].text()));
}

std::optional<Value> join(const ValueList &arguments) {
  if (!isString(arguments, 0) || arguments.size() != 2 || !arguments[1].isList())
    return std::nullopt;
  std::string out;
  for (const Value &item : arguments[1].items()) {
    out += (out.empty() ? "" : arguments[0].text()) + textOf(item);
    checkLength(out);
  }
  return Value(out);
}

std::optional<Value> text(const ValueList &arguments) {
  return arguments.size() == 1 ? std::optional(Value(textOf(arguments[0]))) : std::nullopt;
}

// -- lists: `a += b`
std::optional<Value> extendList(const ValueList &arguments) {
  if (arguments.size() != 2 || !arguments[0].isList() || !arguments[1].isList())
    return std::nullopt;
  ValueList more = arguments[1].items();
  ValueList &items = arguments[0].listRef()->items;
  if (items.size() + more.size() > kMaxItems)
    fail("makes a list of more than " + std::to_string(kMaxItems) + " items");
  items.insert(items.end(), more.begin(), more.end());
  return arguments[0];
}

// -- dictionaries
std::optional<Value> contains(const ValueList &arguments) {
  if (DictionaryRef dictionary = dictionaryAt(arguments, 0); dictionary && arguments.size() == 2)
    return Value(dictionary->find(arguments[1]) != nullptr);
  if (isString(arguments, 0) && isString(arguments, 1))
    return Value(arguments[0].text().find(arguments[1].text()) != std::string::npos);
  if (arguments.size() == 2 && arguments[0].isList() && arguments[1].isList())
    fail("looks for " + arguments[1].kindName() + " in a list");
  if (arguments.size() == 2 && arguments[0].isList())
    return Value(std::any_of(arguments[0].items().begin(), arguments[0].items().end(),
                             [&](const Value &item) { return isEqual(item, arguments[1]); }));
  return std::nullopt;
}

template <bool keys, bool values> std::optional<Value> entries(const ValueList &arguments) {
  DictionaryRef dictionary = dictionaryAt(arguments, 0);
  if (!dictionary)
    return std::nullopt;
  ValueList out;
  for (const auto &[key, value] : dictionary->items)
    out.push_back(keys && values ? Value::list({key, value}, /*isTuple=*/true)
                                 : (keys ? key : value));
  return Value::list(std::move(out));
}

std::optional<Value> get(const ValueList &arguments) {
  DictionaryRef dictionary = dictionaryAt(arguments, 0);
  if (!dictionary || arguments.size() < 2)
    return std::nullopt;
  if (Value *found = dictionary->find(arguments[1]))
    return *found;
  return arguments.size() > 2 ? arguments[2] : Value();
}

std::optional<Value> setEntry(const ValueList &arguments) {
  DictionaryRef dictionary = dictionaryAt(arguments, 0);
  if (!dictionary || arguments.size() != 3)
    return std::nullopt;
  dictionary->set(arguments[1], arguments[2]);
  return Value();
}

std::optional<Value> makeDictionary(const ValueList &arguments) {
  auto out = std::make_shared<Dictionary>();
  if (DictionaryRef from = dictionaryAt(arguments, 0)) {
    out->items = from->items;
  } else if (!arguments.empty()) {
    if (!arguments[0].isList())
      return std::nullopt;
    if (arguments[0].items().size() > kMaxPairs)
      fail("makes a dictionary of more than " + std::to_string(kMaxPairs) + " pairs");
    for (const Value &pair : arguments[0].items())
      if (pair.isList() && pair.items().size() == 2)
        out->set(pair.items()[0], pair.items()[1]);
  }
  return Value(aten::ObjectRef(out));
}

std::optional<Value> dictionaryLength(const ValueList &arguments) {
  DictionaryRef dictionary = dictionaryAt(arguments, 0);
  if (!dictionary)
    return std::nullopt;
  return Value(static_cast<int64_t>(dictionary->items.size()));
}

// -- ranges: a loop over other things than range(n) goes over their positions
std::optional<Value> rangeLength(const ValueList &arguments) {
  int64_t low = integerAt(arguments, 0), high = integerAt(arguments, 1);
  int64_t step = integerAt(arguments, 2);
  if (step == 0)
    fail("a range has a step of 0");
  if (step > 0 ? high <= low : high >= low)
    return Value(int64_t(0));
  // Unsigned: a range may be longer than 2^63.
  uint64_t span = step > 0 ? uint64_t(high) - uint64_t(low) : uint64_t(low) - uint64_t(high);
  uint64_t stride = step > 0 ? uint64_t(step) : 0 - uint64_t(step);
  uint64_t count = (span - 1) / stride + 1;
  return Value(static_cast<int64_t>(
      std::min(count, static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))));
}

std::optional<Value> deriveIndex(const ValueList &arguments) {
  Polynomial index = integerAt(arguments, 0), start = integerAt(arguments, 1);
  return Value(start + index * integerAt(arguments, 2));
}

// -- surroundings
std::optional<Value> raise(const ValueList &arguments) {
  throw Raised{arguments.empty() ? "an exception" : textOf(arguments[0])};
}

template <bool truth> std::optional<Value> always(const ValueList &) { return Value(truth); }
std::optional<Value> nothing(const ValueList &) { return Value(); }

std::optional<Value> deviceType(const ValueList &arguments) {
  return isString(arguments, 0) ? std::optional(arguments[0]) : std::nullopt;
}

template <bool expected> std::optional<Value> identity(const ValueList &arguments) {
  if (arguments.size() != 2)
    return std::nullopt;
  return Value(isSame(arguments[0], arguments[1]) == expected);
}

struct Entry {
  const char *name;
  Builtin function;
};

// Sorted by name. Training is what programs are compiled for: gradients are enabled and wanted.
constexpr Entry kBuiltins[] = {
    {"aten::__contains__", contains},
    {"aten::__derive_index", deriveIndex},
    {"aten::__is__", identity<true>},
    {"aten::__isnot__", identity<false>},
    {"aten::__range_length", rangeLength},
    {"aten::_set_item", setEntry},
    {"aten::add", addStrings},
    {"aten::add_", extendList},
    {"aten::dict", makeDictionary},
    {"aten::find", find},
    {"aten::format", format},
    {"aten::get", get},
    {"aten::is_autocast_enabled", always<false>},
    {"aten::is_scripting", always<true>},
    {"aten::items", entries<true, true>},
    {"aten::join", join},
    {"aten::keys", entries<true, false>},
    {"aten::len", dictionaryLength},
    {"aten::manual_seed", nothing},
    {"aten::startswith", startsWith},
    {"aten::str", text},
    {"aten::values", entries<false, true>},
    {"aten::warn", nothing},
    {"prim::Print", nothing},
    {"prim::RaiseException", raise},
    {"prim::is_autocast_enabled", always<false>},
    {"prim::requires_grad", always<true>},
    {"prim::type", deviceType},
};

const Entry *findEntry(const std::string &name) {
  for (const Entry &entry : kBuiltins)
    if (name == entry.name)
      return &entry;
  return nullptr;
}

} // namespace

bool isBuiltin(const std::string &name) { return findEntry(name) != nullptr; }

std::optional<Value> callBuiltin(const std::string &name, const ValueList &arguments) {
  const Entry *entry = findEntry(name);
  return entry ? entry->function(arguments) : std::nullopt;
}

size_t listIndex(const Value &list, const Value &index) {
  int64_t size = static_cast<int64_t>(list.items().size()), at = integerAt({index}, 0);
  if (at < -size || at >= size)
    fail("takes element " + std::to_string(at) + " of a list of " + std::to_string(size));
  return static_cast<size_t>(at < 0 ? at + size : at);
}

Value rangeOf(const ValueList &arguments) {
  int64_t low = arguments.size() > 1 ? integerAt(arguments, 0) : 0;
  int64_t high = integerAt(arguments, arguments.size() > 1 ? 1 : 0);
  int64_t step = arguments.size() > 2 ? integerAt(arguments, 2) : 1;
  Value length = *rangeLength({Value(low), Value(high), Value(step)});
  int64_t count = *length.integer().constant();
  if (count > kMaxRange)
    fail("a loop runs " + std::to_string(count) + " times, expected at most " +
         std::to_string(kMaxRange));
  ValueList out;
  out.reserve(static_cast<size_t>(std::max<int64_t>(count, 0)));
  for (int64_t i = 0, at = low; i < count; ++i) {
    out.push_back(Value(at));
    __builtin_add_overflow(at, step, &at); // at most behind the last
  }
  return Value::list(std::move(out));
}

} // namespace cleave::torchscript
