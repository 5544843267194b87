// AtenBench: calls operators on known tensors and reads what they give, without a model around them.
#pragma once

#include "compiler/frontend/aten/OpCall.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace cleave::test {

class AtenBench {
public:
  AtenBench();

  // A tensor with these elements.
  aten::Value tensor(const std::vector<int64_t> &shape, const std::vector<double> &values,
                     ElementType type = ElementType::F32);
  // 0, 1, 2, …
  aten::Value counted(const std::vector<int64_t> &shape, ElementType type = ElementType::F32);

  // The first result of `aten::name`, its first list item if it is a list.
  aten::Value call(const std::string &name, const aten::ValueList &positional,
                   const std::map<std::string, aten::Value> &keyword = {});
  // What the call fails with; empty if it does not.
  std::string problem(const std::string &name, const aten::ValueList &positional,
                      const std::map<std::string, aten::Value> &keyword = {});

  Tensor read(const aten::Value &value);
  std::vector<double> values(const aten::Value &value) { return read(value).values; }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OpBuilder builder;
  emit::Evaluator evaluator;
  emit::Emitter emitter;
  aten::Context aten;
};

// A list of integers.
aten::Value ints(const std::vector<int64_t> &items);

} // namespace cleave::test
