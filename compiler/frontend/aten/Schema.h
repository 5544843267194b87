// Schema: the arguments of an operator as one line of text, and the binding of a call to it.
//
//   "T self, num other, num alpha=1"         `T input, i[] size, *, any? layout=None`
//
// Types: T tensor; V tensor, where one without dims counts as a row of one element (Aten.cpp); num
// tensor or number; s number or tensor of one known element; n number; i integer (or a tensor known
// to be one); f the same or a float; b bool; str; list; any. `[]` makes a list (of T?: with gaps),
// `?` allows None. A single number stands for a list of one. What follows `*` is passed by name
// only.
#pragma once

#include "compiler/frontend/aten/IValue.h"

#include <map>

namespace cleave::aten {

// One argument of an operator.
struct Parameter {
  std::string name;
  std::string type; // as above, without `[]` and `?`
  // Whether it is a list, may be None, is a list whose items may be None, may be passed by name
  // only.
  bool isList = false;
  bool mayBeNone = false;
  bool itemsMayBeNone = false;
  bool byNameOnly = false;
  std::optional<IValue> absent; // default; none: the argument is required
};

// The arguments of one form of an operator, in order.
struct Schema {
  std::vector<Parameter> parameters;
};

// Parses a schema; asserts that it is well-formed.
Schema parseSchema(const char *text);

// One value per parameter, or why the call does not match the schema.
struct Bound {
  std::optional<IValueList> arguments;
  std::string problem;
};
// Binds the arguments of a call to the parameters.
Bound bind(const Schema &schema, const IValueList &positional,
           const std::map<std::string, IValue> &keyword);

} // namespace cleave::aten
