// See Schema.h.
#include "compiler/frontend/aten/Schema.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cassert>

namespace cleave::aten {
namespace {

using llvm::StringRef;

IValue parseDefault(StringRef text) {
  int64_t integer = 0;
  double number = 0;
  if (text == "None")
    return {};
  if (text == "True" || text == "False")
    return IValue(text == "True");
  if (text == "[]")
    return IValue::list({});
  if (text.consume_front("'"))
    return IValue(text.drop_back().str());
  if (!text.getAsInteger(10, integer))
    return IValue(integer);
  bool failed = text.getAsDouble(number);
  assert(!failed && "a schema has a default that is not a literal");
  (void)failed;
  return IValue(number);
}

Parameter parseParameter(StringRef text) {
  Parameter out;
  auto [type, rest] = text.split(' ');
  auto [name, absent] = rest.split('=');
  out.name = name.str();
  if (!absent.empty())
    out.absent = parseDefault(absent);
  out.mayBeNone = type.consume_back("?") || (out.absent && out.absent->isNone());
  out.isList = type.consume_back("[]");
  out.itemsMayBeNone = out.isList && type.consume_back("?");
  out.type = type.str();
  return out;
}

bool isKnownInteger(const IValue &value) {
  return value.isInt() || (value.isTensor() && value.tensor()->number());
}

bool isNumber(const IValue &value) { return value.isInt() || value.isFloat() || value.isBool(); }

// Whether a value that is neither None nor a list has the type.
bool isOf(const IValue &value, const std::string &type) {
  if (type == "T" || type == "V")
    return value.isTensor();
  if (type == "num" || type == "s")
    return isNumber(value) || value.isTensor();
  if (type == "n")
    return isNumber(value);
  if (type == "i")
    return isKnownInteger(value);
  if (type == "f")
    return value.isFloat() || isKnownInteger(value);
  if (type == "b")
    return value.isBool();
  if (type == "str")
    return value.isString();
  if (type == "list")
    return value.isList();
  assert(type == "any" && "a schema has an unknown type");
  return true;
}

bool fitsItem(const IValue &item, const Parameter &parameter) {
  return item.isNone() ? parameter.itemsMayBeNone : isOf(item, parameter.type);
}

bool fits(const IValue &value, const Parameter &parameter) {
  if (value.isNone())
    return parameter.mayBeNone || parameter.type == "any";
  if (!parameter.isList)
    return isOf(value, parameter.type);
  if (!value.isList())
    return parameter.type != "T" && isOf(value, parameter.type);
  return llvm::all_of(value.items(), [&](const IValue &item) { return fitsItem(item, parameter); });
}

// The kind of a value that does not fit; of a list, that of the item which does not.
std::string kindOf(const IValue &value, const Parameter &parameter) {
  if (value.isList() && parameter.isList)
    for (const IValue &item : value.items())
      if (!fitsItem(item, parameter))
        return "list with a " + item.kindName();
  return value.kindName();
}

std::string describe(const Parameter &parameter) {
  static const std::map<std::string, std::string> words = {
      {"T", "tensor"},  {"V", "tensor"},    {"num", "tensor or number"},
      {"s", "number"},  {"n", "number"},    {"i", "integer"},
      {"f", "number"},  {"b", "bool"},      {"str", "string"},
      {"list", "list"}, {"any", "anything"}};
  return parameter.isList ? "list of " + words.at(parameter.type) : words.at(parameter.type);
}

} // namespace

Schema parseSchema(const char *text) {
  Schema out;
  bool byNameOnly = false;
  llvm::SmallVector<StringRef> parts;
  StringRef(text).split(parts, ", ", -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    if (part == "*") {
      byNameOnly = true;
      continue;
    }
    out.parameters.push_back(parseParameter(part));
    out.parameters.back().byNameOnly = byNameOnly;
  }
  return out;
}

Bound bind(const Schema &schema, const IValueList &positional,
           const std::map<std::string, IValue> &keyword) {
  const std::vector<Parameter> &parameters = schema.parameters;
  std::vector<const IValue *> given(parameters.size(), nullptr);
  for (size_t i = 0; i < positional.size(); ++i) {
    if (i >= parameters.size() || parameters[i].byNameOnly)
      return {{},
              "has " + std::to_string(positional.size()) + " arguments, expected at most " +
                  std::to_string(i)};
    given[i] = &positional[i];
  }
  for (const auto &[name, value] : keyword) {
    auto found = std::find_if(parameters.begin(), parameters.end(),
                              [&](const Parameter &parameter) { return parameter.name == name; });
    if (found == parameters.end())
      return {{}, "has no argument '" + name + "'"};
    const IValue *&place = given[found - parameters.begin()];
    if (place)
      return {{}, "has the argument '" + name + "' twice"};
    place = &value;
  }
  IValueList arguments;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!given[i] && !parameters[i].absent)
      return {{}, "lacks the argument '" + parameters[i].name + "'"};
    arguments.push_back(given[i] ? *given[i] : *parameters[i].absent);
    if (given[i] && !fits(*given[i], parameters[i]))
      return {{},
              "has a " + kindOf(*given[i], parameters[i]) + " as '" + parameters[i].name +
                  "', expected " + describe(parameters[i])};
  }
  return {std::move(arguments), ""};
}

} // namespace cleave::aten
