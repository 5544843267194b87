// AtenBench: calls operators on known tensors and reads their results, without a model.
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
  aten::IValue tensor(const std::vector<int64_t> &shape, const std::vector<double> &values,
                      ElementType type = ElementType::F32);
  // 0, 1, 2, …
  aten::IValue counted(const std::vector<int64_t> &shape, ElementType type = ElementType::F32);

  // The first result of `aten::name`, its first list item if it is a list.
  aten::IValue call(const std::string &name, const aten::IValueList &positional,
                    const std::map<std::string, aten::IValue> &keyword = {});
  // The message of the call's failure; empty if it succeeds.
  std::string problem(const std::string &name, const aten::IValueList &positional,
                      const std::map<std::string, aten::IValue> &keyword = {});

  Tensor read(const aten::IValue &value);
  std::vector<double> values(const aten::IValue &value) { return read(value).values; }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OpBuilder builder;
  emit::Evaluator evaluator;
  emit::Emitter emitter;
  aten::Context aten;
};

// A list of integers.
aten::IValue ints(const std::vector<int64_t> &items);

} // namespace cleave::test
