// Objects: the values of a TorchScript program that operators do not handle: objects, dictionaries,
// functions.
#pragma once

#include "compiler/frontend/aten/IValue.h"
#include "compiler/frontend/torchscript/Program.h"

#include <map>
#include <set>

namespace cleave::torchscript {

using aten::IValue;
using aten::IValueList;

// An object: a module, or one of a class that the program defines.
struct Instance : aten::Object {
  Definition definition;
  std::string path; // of a module, from the model on: `layer1.0.conv1`; empty for the model itself
  std::map<std::string, IValue> attributes;
  // Attributes that the program read before it set them, and those that it set.
  std::set<std::string> readFirst, assigned;
};
using InstanceRef = std::shared_ptr<Instance>;

// A dictionary, in the order of insertion.
struct Dictionary : aten::Object {
  std::vector<std::pair<IValue, IValue>> items;

  // The value of a key (a string, number or bool); null if there is none.
  IValue *find(const IValue &key);
  // Adds or replaces an entry; fails beyond a maximum number of entries.
  void set(const IValue &key, IValue value);
};
using DictionaryRef = std::shared_ptr<Dictionary>;

// A function or class of the program as a value.
struct Callable : aten::Object {
  Definition definition;
};

// The content as an object (a dictionary); null if the value is something else.
InstanceRef instanceOf(const IValue &value);
DictionaryRef dictionaryOf(const IValue &value);

// Python's `==` of values without tensors, and `is`. Fails on lists with too many items.
bool isEqual(const IValue &a, const IValue &b);
bool isSame(const IValue &a, const IValue &b);

// The value as Python prints it: `[1, 2]`, `0.5`, `True`; tensors as `tensor`. Fails beyond a
// maximum length.
std::string stringOf(const IValue &value);

} // namespace cleave::torchscript
