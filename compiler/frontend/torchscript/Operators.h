// Operators: calls the operators that a TorchScript program names, and selects from the results of
// branches that depend on data. It knows values and the step, not the program.
#pragma once

#include "compiler/frontend/aten/Aten.h"
#include "compiler/frontend/step/Remark.h"
#include "compiler/frontend/torchscript/Limits.h"
#include "compiler/frontend/torchscript/OperatorVersions.h"

#include <functional>

namespace cleave::torchscript {

// Arguments that are passed by name.
using Keywords = std::map<std::string, IValue>;

// Services of the import for the program.
struct Services {
  aten::Context &context;
  // The archive's constant of this name (`c0` of `CONSTANTS.c0`).
  std::function<IValue(const std::string &name)> constant;
  // Sets the location of the ops that follow: the module's path and the operator.
  std::function<void(const std::string &path, const std::string &op)> locate;
  std::vector<frontend::Remark> &remarks;
  int64_t version = kNewestVersion; // of the archive
};

// Thrown where the program calls an unsupported operator.
struct UnknownOperator {
  std::string name;
};

// The approximate memory of a value that one call creates, in units of Limits::spend.
int64_t weightOf(const IValue &value);

class Operators {
public:
  Operators(Services &services, Limits &limits) : services_(services), limits_(limits) {}

  // Calls `aten::name` or the like for the module at `path`; several results are a tuple. Fails on
  // operands that do not fit, and throws UnknownOperator.
  IValue call(const std::string &name, IValueList positional, Keywords keyword,
              const std::string &path);
  // The value as a bool; none if it depends on data.
  std::optional<bool> boolOf(const IValue &value);
  // `a` where the condition holds, else `b`: the two values of the variable `name`. Fails unless
  // they are equal, or tensors of one type.
  IValue select(const IValue &condition, const IValue &a, const IValue &b, const std::string &name);

private:
  Services &services_;
  Limits &limits_;
};

} // namespace cleave::torchscript
