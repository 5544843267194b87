// Schema: the arguments of an operator as one line of text, and the binding of a call to it.
//
//   "T self, num other, num alpha=1"         `T input, i[] size, *, any? layout=None`
//
// Types: T tensor; num tensor or number; s number or tensor of one known element; n number; i
// integer (or a tensor known to be one); f the same or a float; b truth value; str; list; any. `[]` makes a list (of T?: with gaps), `?` allows None. A single
// number stands for a list of one. What follows `*` is passed by name only.
#pragma once

#include "compiler/frontend/aten/Value.h"

#include <map>

namespace cleave::aten {

struct Parameter {
  std::string name;
  std::string type; // as above, without `[]` and `?`
  bool isList = false;
  bool mayBeNone = false;
  bool itemsMayBeNone = false;
  bool byNameOnly = false;
  std::optional<Value> absent; // its default
};

struct Schema {
  std::vector<Parameter> parameters;
};

// The schema that the text describes; asserts that it is well-formed, as it is our own.
Schema parseSchema(const char *text);

// One value per parameter, or why the call does not fit.
struct Bound {
  std::optional<ValueList> arguments;
  std::string problem;
};
Bound bind(const Schema &schema, const ValueList &positional,
           const std::map<std::string, Value> &keyword);

} // namespace cleave::aten
