// See Objects.h.
#include "compiler/frontend/torchscript/Objects.h"

#include "compiler/frontend/emit/Failure.h"

#include <charconv>

namespace cleave::torchscript {
namespace {

// Limit of nested lists that are compared or printed; deeper ones are different.
constexpr int kMaxNested = 64;
// Limits of items that are compared, characters that are printed, entries of a dictionary.
constexpr int64_t kMaxCompared = 1 << 17;
constexpr size_t kMaxPrinted = 1 << 16, kMaxEntries = 4096;

std::optional<double> numberOf(const IValue &value) {
  if (value.isBool())
    return value.boolean();
  if (value.isFloat())
    return value.number();
  if (value.isInt())
    if (std::optional<int64_t> known = value.integer().constant())
      return static_cast<double>(*known);
  return std::nullopt;
}

// The identity of values that `==` compares by identity; null for others.
bool isReference(const IValue &value) {
  return value.isNone() || value.isTensor() || value.isList() || value.isObject();
}

bool isEqualWithin(const IValue &a, const IValue &b, int depth, int64_t &compared) {
  if (depth > kMaxNested)
    return false;
  if (++compared > kMaxCompared)
    emit::fail("compares lists of more than ", kMaxCompared, " items");
  if (a.isInt() && b.isInt())
    return a.integer() == b.integer();
  if (std::optional<double> x = numberOf(a), y = numberOf(b); x && y)
    return *x == *y;
  if (a.isString() && b.isString())
    return a.string() == b.string();
  if (!a.isList() || !b.isList()) // values of different kinds differ
    return (isReference(a) || isReference(b)) && isSame(a, b);
  if (a.items().size() != b.items().size())
    return false;
  for (size_t i = 0; i < a.items().size(); ++i)
    if (!isEqualWithin(a.items()[i], b.items()[i], depth + 1, compared))
      return false;
  return true;
}

std::string floatText(double number) {
  char text[32];
  auto [end, error] = std::to_chars(text, text + sizeof(text), number);
  std::string out(text, end);
  return out.find_first_of(".en") == std::string::npos ? out + ".0" : out;
}

std::string textWithin(const IValue &value, int depth) {
  if (value.isNone())
    return "None";
  if (value.isBool())
    return value.boolean() ? "True" : "False";
  if (value.isInt())
    return value.integer().str();
  if (value.isFloat())
    return floatText(value.number());
  if (value.isString())
    return value.string();
  if (!value.isList() || depth > kMaxNested)
    return value.kindName();
  std::string out;
  for (const IValue &item : value.items()) {
    out += (&item == value.items().data() ? "" : ", ") + textWithin(item, depth + 1);
    if (out.size() > kMaxPrinted)
      emit::fail("prints a list of more than ", kMaxPrinted, " characters");
  }
  return value.listRef()->isTuple ? "(" + out + ")" : "[" + out + "]";
}

} // namespace

IValue *Dictionary::find(const IValue &key) {
  if (key.isList())
    emit::fail("looks for ", key.kindName(), " among the keys of a dictionary");
  for (auto &[known, value] : items)
    if (isEqual(known, key))
      return &value;
  return nullptr;
}

void Dictionary::set(const IValue &key, IValue value) {
  if (IValue *known = find(key))
    *known = std::move(value);
  else
    items.emplace_back(key, std::move(value));
  if (items.size() > kMaxEntries)
    emit::fail("makes a dictionary of more than ", kMaxEntries, " entries");
}

InstanceRef instanceOf(const IValue &value) {
  return value.isObject() ? std::dynamic_pointer_cast<Instance>(value.object()) : nullptr;
}

DictionaryRef dictionaryOf(const IValue &value) {
  return value.isObject() ? std::dynamic_pointer_cast<Dictionary>(value.object()) : nullptr;
}

bool isEqual(const IValue &a, const IValue &b) {
  int64_t compared = 0;
  return isEqualWithin(a, b, 0, compared);
}

bool isSame(const IValue &a, const IValue &b) {
  if (a.isNone() || b.isNone())
    return a.isNone() && b.isNone();
  if (a.isTensor() && b.isTensor())
    return a.tensor() == b.tensor();
  if (a.isList() && b.isList())
    return a.listRef() == b.listRef();
  if (a.isObject() && b.isObject())
    return a.object() == b.object();
  return !isReference(a) && !isReference(b) && isEqual(a, b);
}

std::string stringOf(const IValue &value) { return textWithin(value, 0); }

} // namespace cleave::torchscript
