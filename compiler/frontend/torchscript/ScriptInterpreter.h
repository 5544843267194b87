// ScriptInterpreter: runs a TorchScript program once, during import, with handles instead of
// tensors. The ops of the operators that it calls are the result. Calls are inlined, loops
// unrolled, and branches that depend on data are both computed and selected from.
#pragma once

#include "compiler/frontend/torchscript/Evaluator.h"

#include <set>

namespace cleave::torchscript {

// The statements of the program's functions; an Evaluator computes their expressions.
class ScriptInterpreter {
public:
  ScriptInterpreter(Program &program, Services services)
      : services_(std::move(services)), operators_(services_, limits_),
        evaluator_(program, services_, operators_, limits_, *this) {}
  ScriptInterpreter(const ScriptInterpreter &) = delete; // its parts refer to each other

  // Calls a method and returns its result. Failures name the module and the line of the program.
  IValue callMethod(const InstanceRef &self, const std::string &method, IValueList positional,
                    Keywords keyword = {});
  // Calls a function for the module at `path`.
  IValue callFunction(const Definition &definition, const Function &function,
                      const std::string &path, IValueList positional, Keywords keyword);
  // Makes an object of a class for the module at `path`.
  IValue construct(const Definition &definition, const std::string &path, IValueList positional,
                   Keywords keyword);

private:
  enum class Flow { Next, Return };

  // -- statements
  // `layer1.0 (code/….py:12)`, for messages.
  static std::string placeOf(const Frame &frame);
  Flow run(const Block &block, Frame &frame);
  Flow run(const Statement &statement, Frame &frame);
  Flow runIf(const Statement &statement, Frame &frame);
  Flow runFor(const Statement &statement, Frame &frame);
  Flow runWhile(const Statement &statement, Frame &frame);
  Flow runWith(const Statement &statement, Frame &frame);
  void assign(const Expression &target, IValue value, Frame &frame);
  void setAttribute(const IValue &object, const std::string &name, IValue value);
  void setItem(const IValue &container, const IValue &key, IValue value);

  // -- a branch that depends on data
  Flow runUnknownIf(const Statement &statement, const IValue &condition, Frame &frame);
  std::optional<std::map<std::string, IValue>> speculate(const Block &block, Frame frame);

  Services services_;
  Limits limits_;
  Operators operators_;
  Evaluator evaluator_;
  std::set<std::string> warned_; // checks that depend on data, by place
  bool located_ = false;         // the Failure that propagates names a line already
};

} // namespace cleave::torchscript
