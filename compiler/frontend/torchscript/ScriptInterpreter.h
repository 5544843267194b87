// ScriptInterpreter: runs a TorchScript program once, during import, with handles instead of
// tensors. The ops of the operators that it calls are the result. Calls are inlined, loops
// unrolled, and branches that depend on data are both computed and selected from.
#pragma once

#include "compiler/frontend/aten/Aten.h"
#include "compiler/frontend/step/Remark.h"
#include "compiler/frontend/torchscript/Objects.h"
#include "compiler/frontend/torchscript/OperatorVersions.h"

#include <functional>
#include <set>

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

class ScriptInterpreter {
public:
  ScriptInterpreter(Program &program, Services services)
      : program_(program), services_(std::move(services)) {}

  // Calls a method and returns its result. Failures name the module and the line of the program.
  IValue callMethod(const InstanceRef &self, const std::string &method, IValueList positional,
                    Keywords keyword = {});

private:
  enum class Flow { Next, Return };
  struct Frame {
    const SourceFile *file = nullptr;
    std::string path; // of the module that runs
    std::map<std::string, IValue> names;
    IValue result;
    int line = 0;
  };

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
  IValue select(const IValue &condition, const IValue &a, const IValue &b, const std::string &name);
  // Accounts for work, in units of about a microsecond; fails beyond the limit.
  void spend(int64_t work);
  // Fails where `value` must not become part of `around` (Nesting.h).
  void checkFits(const IValue &value, const IValue &around);
  // Fails on a write inside of a branch that depends on data.
  void checkCertain(const std::string &what) const;

  // -- expressions
  IValue evaluate(const Expression &expression, Frame &frame);
  IValue evaluateContainer(const Expression &expression, Frame &frame);
  IValue evaluateUnary(const Expression &expression, Frame &frame);
  IValue evaluateBinary(const Expression &expression, Frame &frame);
  IValue evaluateIndex(const Expression &expression, Frame &frame);
  IValue evaluateAttribute(const Expression &expression, Frame &frame);
  IValue attributeOf(const IValue &object, const std::string &name, Frame &frame);
  IValue evaluateCall(const Expression &call, Frame &frame);
  std::optional<IValue> callWord(const Expression &call, const std::string &word, Frame &frame);
  IValue callQualified(const Expression &call, const std::string &name, Frame &frame);
  IValue callValue(const IValue &callee, IValueList positional, Keywords keyword, Frame &frame);
  IValue callOperator(const std::string &name, IValueList positional, Keywords keyword,
                      Frame &frame);
  IValueList arguments(const Expression &call, size_t from, Frame &frame);
  Keywords keywords(const Expression &call, Frame &frame);
  IValue global(const std::string &qualified);
  std::optional<std::string> qualifiedName(const Expression &expression, const Frame &frame) const;
  bool isInstance(const IValue &value, const Expression &type, Frame &frame);

  // -- calls
  IValue callFunction(const Definition &definition, const Function &function,
                      const std::string &path, IValueList positional, Keywords keyword);
  IValue construct(const Definition &definition, const std::string &path, IValueList positional,
                   Keywords keyword);

  // The value as a bool; none if it depends on data.
  std::optional<bool> boolOf(const IValue &value, Frame &frame);

  Program &program_;
  Services services_;
  int depth_ = 0;
  int uncertain_ = 0;                // enclosing branches that depend on data
  int64_t work_ = 0, operators_ = 0; // spent, called
  std::set<std::string> warned_;
  bool located_ = false; // the Failure that propagates names a line already
};

} // namespace cleave::torchscript
