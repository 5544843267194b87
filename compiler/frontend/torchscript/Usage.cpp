// See Usage.h.
#include "compiler/frontend/torchscript/Usage.h"

#include "compiler/frontend/aten/Aten.h"
#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/torchscript/Builtins.h"

#include <functional>

namespace cleave::torchscript {
namespace {

using EK = Expression::Kind;
using VisitNode = std::function<void(const Expression &call)>;

// Recursion: trees are no deeper than the parser allows.
void visitCalls(const Expression &expression, const VisitNode &visit) {
  if (expression.kind == EK::Call)
    visit(expression);
  for (const ExpressionPtr &item : expression.items)
    if (item)
      visitCalls(*item, visit);
  for (const auto &[name, value] : expression.keywords)
    visitCalls(*value, visit);
}

void visitCalls(const Block &block, const VisitNode &visit) {
  for (const Statement &statement : block) {
    if (statement.target)
      visitCalls(*statement.target, visit);
    if (statement.value)
      visitCalls(*statement.value, visit);
    visitCalls(statement.body, visit);
    visitCalls(statement.otherwise, visit);
  }
}

void visitCalls(const SourceFile &file, const VisitNode &visit) {
  for (const auto &[name, function] : file.functions)
    visitCalls(function.body, visit);
  for (const auto &[name, type] : file.classes)
    for (const auto &[method, function] : type.methods)
      visitCalls(function.body, visit);
}

// `torch.batch_norm` of a dotted expression; empty of others.
std::string dottedName(const Expression &expression) {
  std::string name;
  const Expression *at = &expression;
  for (; at->kind == EK::Attribute; at = at->items[0].get())
    name = "." + at->text + name;
  return at->kind == EK::Name ? at->text + name : "";
}

// `aten::add` of `torch.add`, `prim::dtype` of `ops.prim.dtype`; empty of others.
std::string operatorName(const Expression &callee) {
  std::string name = dottedName(callee);
  if (name.starts_with("torch.") && name != "torch.device")
    return "aten::" + name.substr(6);
  size_t dot = name.find('.', 4);
  if (name.starts_with("ops.") && dot != std::string::npos)
    return name.substr(4, dot - 4) + "::" + name.substr(dot + 1);
  return "";
}

} // namespace

std::set<std::string> runningStatistics(Program &program) {
  constexpr size_t mean = 4, variance = 5; // after the callee, input, weight, bias
  std::set<std::string> out;
  for (const std::string &path : program.paths())
    visitCalls(*program.file(path), [&](const Expression &call) {
      if (operatorName(*call.items[0]) == "aten::batch_norm")
        for (size_t i : {mean, variance})
          if (i < call.items.size())
            out.insert(dottedName(*call.items[i]));
    });
  return out;
}

std::map<std::string, std::string> unknownOperators(Program &program) {
  std::map<std::string, std::string> out;
  for (const std::string &path : program.paths()) {
    const SourceFile *file = nullptr;
    try {
      file = program.file(path);
    } catch (const emit::Failure &) { // it may be in a part that is not run
    }
    if (!file)
      continue;
    visitCalls(*file, [&](const Expression &call) {
      std::string name = operatorName(*call.items[0]);
      if (!name.empty() && !aten::knows(name) && !isBuiltin(name))
        out.emplace(name, path + ":" + std::to_string(call.line));
    });
  }
  return out;
}

} // namespace cleave::torchscript
