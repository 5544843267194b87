// Evaluator: the values of a program's expressions. Calls of the program's own functions go back to
// the ScriptInterpreter, which runs their statements.
#pragma once

#include "compiler/frontend/torchscript/Operators.h"

namespace cleave::torchscript {

class ScriptInterpreter;

// The variables of a function that runs.
struct Frame {
  const SourceFile *file = nullptr;
  std::string path; // of the module that runs
  std::map<std::string, IValue> names;
  IValue result;
  int line = 0;
};

class Evaluator {
public:
  Evaluator(Program &program, const Services &services, Operators &operators, Limits &limits,
            ScriptInterpreter &functions)
      : program_(program), services_(services), operators_(operators), limits_(limits),
        functions_(functions) {}

  // Computes an expression in a frame.
  IValue evaluate(const Expression &expression, Frame &frame);

private:
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
  IValueList arguments(const Expression &call, size_t from, Frame &frame);
  Keywords keywords(const Expression &call, Frame &frame);
  IValue global(const std::string &qualified);
  std::optional<std::string> qualifiedName(const Expression &expression, const Frame &frame) const;
  bool isInstance(const IValue &value, const Expression &type, Frame &frame);

  Program &program_;
  const Services &services_;
  Operators &operators_;
  Limits &limits_;
  ScriptInterpreter &functions_;
};

} // namespace cleave::torchscript
