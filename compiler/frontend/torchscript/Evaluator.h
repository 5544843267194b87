// Evaluator: runs a TorchScript program once, at import time, with handles instead of tensors. What
// is left of it are the operators that it called. Calls are inlined, loops unrolled, and branches
// that depend on data computed both and selected from.
#pragma once

#include "compiler/frontend/step/Remark.h"
#include "compiler/frontend/aten/Aten.h"
#include "compiler/frontend/torchscript/Objects.h"
#include "compiler/frontend/torchscript/OperatorVersions.h"

#include <functional>
#include <set>

namespace cleave::torchscript {

using Keywords = std::map<std::string, Value>;

// What the import does for the program.
struct Services {
  aten::Context &context;
  // `CONSTANTS.c0`
  std::function<Value(const std::string &name)> constant;
  // Where the operators that follow belong: the module's path and the operator.
  std::function<void(const std::string &path, const std::string &op)> locate;
  std::vector<frontend::Remark> &remarks;
  int64_t version = kNewestVersion; // of the archive
};

// Thrown where the program calls an operator that Cleave does not know.
struct UnknownOperator {
  std::string name;
};

class Evaluator {
public:
  Evaluator(Program &program, Services services)
      : program_(program), services_(std::move(services)) {}

  // The result of a method. Failures name the module and the line of the program.
  Value callMethod(const InstanceRef &self, const std::string &method, ValueList positional,
                   Keywords keyword = {});

private:
  enum class Flow { Next, Return };
  struct Frame {
    const SourceFile *file = nullptr;
    std::string path; // of the module that runs
    std::map<std::string, Value> names;
    Value result;
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
  void assign(const Expression &target, Value value, Frame &frame);
  void setAttribute(const Value &object, const std::string &name, Value value);
  void setItem(const Value &container, const Value &key, Value value);

  // -- a branch that depends on data
  Flow runUnknownIf(const Statement &statement, const Value &condition, Frame &frame);
  std::optional<std::map<std::string, Value>> speculate(const Block &block, Frame frame);
  Value select(const Value &condition, const Value &a, const Value &b, const std::string &name);
  // Counts work, about a microsecond each; fails where a program does more than models do.
  void spend(int64_t work);
  // Fails where `value` may not become part of `around`.
  void checkFits(const Value &value, const Value &around);
  // Fails on a write while it is not known whether it happens.
  void checkCertain(const std::string &what) const;

  // -- expressions
  Value evaluate(const Expression &expression, Frame &frame);
  Value evaluateContainer(const Expression &expression, Frame &frame);
  Value evaluateUnary(const Expression &expression, Frame &frame);
  Value evaluateBinary(const Expression &expression, Frame &frame);
  Value evaluateIndex(const Expression &expression, Frame &frame);
  Value evaluateAttribute(const Expression &expression, Frame &frame);
  Value attributeOf(const Value &object, const std::string &name, Frame &frame);
  Value evaluateCall(const Expression &call, Frame &frame);
  std::optional<Value> callWord(const Expression &call, const std::string &word, Frame &frame);
  Value callQualified(const Expression &call, const std::string &name, Frame &frame);
  Value callValue(const Value &callee, ValueList positional, Keywords keyword, Frame &frame);
  Value callOperator(const std::string &name, ValueList positional, Keywords keyword, Frame &frame);
  ValueList arguments(const Expression &call, size_t from, Frame &frame);
  Keywords keywords(const Expression &call, Frame &frame);
  Value global(const std::string &qualified);
  std::optional<std::string> qualifiedName(const Expression &expression, const Frame &frame) const;
  bool isInstance(const Value &value, const Expression &type, Frame &frame);

  // -- calls
  Value callFunction(const Definition &definition, const Function &function,
                     const std::string &path, ValueList positional, Keywords keyword);
  Value construct(const Definition &definition, const std::string &path, ValueList positional,
                  Keywords keyword);

  // The truth, if it is known without data.
  std::optional<bool> truthOf(const Value &value, Frame &frame);

  Program &program_;
  Services services_;
  int depth_ = 0;
  int uncertain_ = 0;                // branches around that may not happen
  int64_t work_ = 0, operators_ = 0; // so far
  std::set<std::string> warned_;
  bool located_ = false; // the failure on its way has a line already
};

} // namespace cleave::torchscript
