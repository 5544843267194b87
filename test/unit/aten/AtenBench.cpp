#include "test/unit/aten/AtenBench.h"

#include <numeric>

namespace cleave::test {

using aten::IValue;

AtenBench::AtenBench()
    : builder(&context), emitter(builder, mlir::UnknownLoc::get(&context), evaluator),
      aten{emitter} {
  context.loadDialect<graph::GraphDialect>();
  module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  builder.setInsertionPointToStart(module->getBody());
}

IValue AtenBench::tensor(const std::vector<int64_t> &shape, const std::vector<double> &values,
                         ElementType type) {
  Tensor data(type, shape);
  data.values = values;
  return aten::TensorState::create(emitter.constant(data));
}

IValue AtenBench::counted(const std::vector<int64_t> &shape, ElementType type) {
  std::vector<double> values(Tensor(type, shape).values.size());
  std::iota(values.begin(), values.end(), 0);
  return tensor(shape, values, type);
}

IValue AtenBench::call(const std::string &name, const aten::IValueList &positional,
                       const std::map<std::string, IValue> &keyword) {
  IValue first = aten::call(aten, name, positional, keyword).at(0);
  return first.isList() ? first.items().at(0) : first;
}

std::string AtenBench::problem(const std::string &name, const aten::IValueList &positional,
                               const std::map<std::string, IValue> &keyword) {
  try {
    aten::call(aten, name, positional, keyword);
  } catch (const emit::Failure &failure) {
    return failure.status.message();
  }
  return "";
}

Tensor AtenBench::read(const IValue &value) {
  return evaluator.evaluate(value.tensor()->read(emitter)).value();
}

IValue ints(const std::vector<int64_t> &items) {
  aten::IValueList out;
  for (int64_t item : items)
    out.emplace_back(item);
  return IValue::list(std::move(out));
}

} // namespace cleave::test
