// The values of a TorchScript program that operators know nothing of: objects, dictionaries,
// functions.
#pragma once

#include "compiler/frontend/aten/Value.h"
#include "compiler/frontend/torchscript/Program.h"

#include <map>

namespace cleave::torchscript {

using aten::Value;
using aten::ValueList;

// An object: a module, or one of a class that the program defines.
struct Instance : aten::Object {
  Definition definition;
  std::string path; // of a module, from the model on: `layer1.0.conv1`; empty for the model itself
  std::map<std::string, Value> attributes;
};
using InstanceRef = std::shared_ptr<Instance>;

// A dictionary, in the order of insertion.
struct Dictionary : aten::Object {
  std::vector<std::pair<Value, Value>> items;

  // The value under this key (a string, number or truth); null if there is none.
  Value *find(const Value &key);
  // Fails where the dictionary gets more entries than programs have use for.
  void set(const Value &key, Value value);
};
using DictionaryRef = std::shared_ptr<Dictionary>;

// A function of the program as a value, or a class.
struct Callable : aten::Object {
  Definition definition;
};

// These are null where the value is something else.
InstanceRef instanceOf(const Value &value);
DictionaryRef dictionaryOf(const Value &value);

// Python's `==` of values without tensors in them, and `is`. Fails on lists of too many items.
bool isEqual(const Value &a, const Value &b);
bool isSame(const Value &a, const Value &b);

// As Python prints it: `[1, 2]`, `0.5`, `True`; tensors as `tensor`. Fails where that is too long.
std::string textOf(const Value &value);

} // namespace cleave::torchscript
