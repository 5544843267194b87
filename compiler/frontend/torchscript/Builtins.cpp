// See Builtins.h.
#include "compiler/frontend/torchscript/Builtins.h"

#include "compiler/frontend/aten/Aten.h"
#include "compiler/frontend/torchscript/Limits.h"

#include <algorithm>
#include <limits>

namespace cleave::torchscript {
namespace {

using emit::fail;

constexpr int64_t kMaxRange = 100000;
constexpr size_t kMaxText = 1 << 16, kMaxItems = 1 << 17, kMaxPairs = 4096;

using Builtin = std::optional<IValue> (*)(const IValueList &);

int64_t integerAt(const IValueList &arguments, size_t i) {
  if (i < arguments.size() && arguments[i].isInt())
    if (std::optional<int64_t> known = arguments[i].integer().constant())
      return *known;
  fail("expected a known integer as argument ", i);
}

// Fails where a string exceeds the maximum length.
void checkLength(const std::string &text) {
  if (text.size() > kMaxText)
    fail("makes a string of more than ", kMaxText, " characters");
}

bool isString(const IValueList &arguments, size_t i) {
  return i < arguments.size() && arguments[i].isString();
}

DictionaryRef dictionaryAt(const IValueList &arguments, size_t i) {
  return i < arguments.size() ? dictionaryOf(arguments[i]) : nullptr;
}

// -- strings
std::optional<IValue> format(const IValueList &arguments) {
  if (!isString(arguments, 0))
    return std::nullopt;
  std::string out, pattern = arguments[0].string();
  size_t next = 1;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern.compare(i, 2, "{}") == 0 && next < arguments.size()) {
      out += stringOf(arguments[next++]);
      ++i;
    } else {
      out += pattern[i];
    }
    checkLength(out);
  }
  return IValue(out);
}

std::optional<IValue> addStrings(const IValueList &arguments) {
  if (!isString(arguments, 0) || !isString(arguments, 1))
    return std::nullopt;
  std::string out = arguments[0].string() + arguments[1].string();
  checkLength(out);
  return IValue(out);
}

std::optional<IValue> find(const IValueList &arguments) {
  if (!isString(arguments, 0) || !isString(arguments, 1))
    return std::nullopt;
  size_t at = arguments[0].string().find(arguments[1].string());
  return IValue(at == std::string::npos ? int64_t(-1) : static_cast<int64_t>(at));
}

std::optional<IValue> startsWith(const IValueList &arguments) {
  if (!isString(arguments, 0) || !isString(arguments, 1))
    return std::nullopt;
  return IValue(arguments[0].string().starts_with(arguments[1].string()));
}

std::optional<IValue> join(const IValueList &arguments) {
  if (!isString(arguments, 0) || arguments.size() != 2 || !arguments[1].isList())
    return std::nullopt;
  std::string out;
  for (const IValue &item : arguments[1].items()) {
    out += (out.empty() ? "" : arguments[0].string()) + stringOf(item);
    checkLength(out);
  }
  return IValue(out);
}

std::optional<IValue> text(const IValueList &arguments) {
  return arguments.size() == 1 ? std::optional(IValue(stringOf(arguments[0]))) : std::nullopt;
}

// -- lists: `a += b`
std::optional<IValue> extendList(const IValueList &arguments) {
  if (arguments.size() != 2 || !arguments[0].isList() || !arguments[1].isList())
    return std::nullopt;
  IValueList more = arguments[1].items();
  IValueList &items = arguments[0].listRef()->items;
  if (items.size() + more.size() > kMaxItems)
    fail("makes a list of more than ", kMaxItems, " items");
  items.insert(items.end(), more.begin(), more.end());
  return arguments[0];
}

// -- dictionaries
std::optional<IValue> contains(const IValueList &arguments) {
  if (DictionaryRef dictionary = dictionaryAt(arguments, 0); dictionary && arguments.size() == 2)
    return IValue(dictionary->find(arguments[1]) != nullptr);
  if (isString(arguments, 0) && isString(arguments, 1))
    return IValue(arguments[0].string().find(arguments[1].string()) != std::string::npos);
  if (arguments.size() == 2 && arguments[0].isList() && arguments[1].isList())
    fail("looks for ", arguments[1].kindName(), " in a list");
  if (arguments.size() == 2 && arguments[0].isList())
    return IValue(std::any_of(arguments[0].items().begin(), arguments[0].items().end(),
                              [&](const IValue &item) { return isEqual(item, arguments[1]); }));
  return std::nullopt;
}

template <bool keys, bool values> std::optional<IValue> entries(const IValueList &arguments) {
  DictionaryRef dictionary = dictionaryAt(arguments, 0);
  if (!dictionary)
    return std::nullopt;
  IValueList out;
  for (const auto &[key, value] : dictionary->items)
    out.push_back(keys && values ? IValue::list({key, value}, /*isTuple=*/true)
                                 : (keys ? key : value));
  return IValue::list(std::move(out));
}

std::optional<IValue> get(const IValueList &arguments) {
  DictionaryRef dictionary = dictionaryAt(arguments, 0);
  if (!dictionary || arguments.size() < 2)
    return std::nullopt;
  if (IValue *found = dictionary->find(arguments[1]))
    return *found;
  return arguments.size() > 2 ? arguments[2] : IValue();
}

std::optional<IValue> setEntry(const IValueList &arguments) {
  DictionaryRef dictionary = dictionaryAt(arguments, 0);
  if (!dictionary || arguments.size() != 3)
    return std::nullopt;
  dictionary->set(arguments[1], arguments[2]);
  return IValue();
}

std::optional<IValue> makeDictionary(const IValueList &arguments) {
  auto out = std::make_shared<Dictionary>();
  if (DictionaryRef from = dictionaryAt(arguments, 0)) {
    out->items = from->items;
  } else if (!arguments.empty()) {
    if (!arguments[0].isList())
      return std::nullopt;
    if (arguments[0].items().size() > kMaxPairs)
      fail("makes a dictionary of more than ", kMaxPairs, " pairs");
    for (const IValue &pair : arguments[0].items())
      if (pair.isList() && pair.items().size() == 2)
        out->set(pair.items()[0], pair.items()[1]);
  }
  return IValue(aten::ObjectRef(out));
}

std::optional<IValue> dictionaryLength(const IValueList &arguments) {
  DictionaryRef dictionary = dictionaryAt(arguments, 0);
  if (!dictionary)
    return std::nullopt;
  return IValue(static_cast<int64_t>(dictionary->items.size()));
}

// -- ranges: a loop over other things than range(n) goes over their positions
std::optional<IValue> rangeLength(const IValueList &arguments) {
  int64_t low = integerAt(arguments, 0), high = integerAt(arguments, 1);
  int64_t step = integerAt(arguments, 2);
  if (step == 0)
    fail("a range has a step of 0");
  if (step > 0 ? high <= low : high >= low)
    return IValue(int64_t(0));
  // Unsigned: a range may be longer than 2^63.
  uint64_t span = step > 0 ? uint64_t(high) - uint64_t(low) : uint64_t(low) - uint64_t(high);
  uint64_t stride = step > 0 ? uint64_t(step) : 0 - uint64_t(step);
  uint64_t count = (span - 1) / stride + 1;
  return IValue(static_cast<int64_t>(
      std::min(count, static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))));
}

std::optional<IValue> deriveIndex(const IValueList &arguments) {
  Polynomial index = integerAt(arguments, 0), start = integerAt(arguments, 1);
  return IValue(start + index * integerAt(arguments, 2));
}

// -- surroundings
std::optional<IValue> raise(const IValueList &arguments) {
  throw Raised{arguments.empty() ? "an exception" : stringOf(arguments[0])};
}

template <bool value> std::optional<IValue> always(const IValueList &) { return IValue(value); }
std::optional<IValue> nothing(const IValueList &) { return IValue(); }

std::optional<IValue> deviceType(const IValueList &arguments) {
  return isString(arguments, 0) ? std::optional(arguments[0]) : std::nullopt;
}

// PyTorch's defaults, by the numbers of torch.dtype.
std::optional<IValue> autocastType(const IValueList &arguments) {
  if (!isString(arguments, 0))
    return std::nullopt;
  const bool isCuda = arguments[0].string() == "cuda";
  return IValue(aten::dtypeOf(isCuda ? ElementType::F16 : ElementType::BF16));
}

template <bool expected> std::optional<IValue> identity(const IValueList &arguments) {
  if (arguments.size() != 2)
    return std::nullopt;
  return IValue(isSame(arguments[0], arguments[1]) == expected);
}

struct Entry {
  const char *name;
  Builtin function;
};

// Sorted by name. Gradients are enabled, since programs are compiled for training.
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
    {"aten::get_autocast_dtype", autocastType},
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

std::optional<IValue> callBuiltin(const std::string &name, const IValueList &arguments) {
  const Entry *entry = findEntry(name);
  return entry ? entry->function(arguments) : std::nullopt;
}

size_t listIndex(const IValue &list, const IValue &index) {
  int64_t size = static_cast<int64_t>(list.items().size()), at = integerAt({index}, 0);
  if (at < -size || at >= size)
    fail("takes element ", at, " of a list of ", size);
  return static_cast<size_t>(at < 0 ? at + size : at);
}

IValue rangeOf(const IValueList &arguments) {
  int64_t low = arguments.size() > 1 ? integerAt(arguments, 0) : 0;
  int64_t high = integerAt(arguments, arguments.size() > 1 ? 1 : 0);
  int64_t step = arguments.size() > 2 ? integerAt(arguments, 2) : 1;
  IValue length = *rangeLength({IValue(low), IValue(high), IValue(step)});
  int64_t count = *length.integer().constant();
  if (count > kMaxRange)
    fail("a loop runs ", count, " times, expected at most ", kMaxRange);
  IValueList out;
  out.reserve(static_cast<size_t>(std::max<int64_t>(count, 0)));
  for (int64_t i = 0, at = low; i < count; ++i) {
    out.push_back(IValue(at));
    __builtin_add_overflow(at, step, &at); // at most after the last
  }
  return IValue::list(std::move(out));
}

} // namespace cleave::torchscript
