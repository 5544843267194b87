// See Import.h. Here: the order of the parts of an import.
#include "compiler/frontend/onnx/Import.h"

#include "compiler/frontend/onnx/GraphImporter.h"
#include "compiler/frontend/onnx/ModelInputs.h"
#include "compiler/frontend/onnx/ModelOutputs.h"
#include "compiler/frontend/onnx/file/Functions.h"
#include "compiler/frontend/onnx/file/Topology.h"
#include "compiler/frontend/onnx/ops/OpTable.h"
#include "dialects/graph/Step.h"

namespace cleave::onnx {

static void checkOpset(const Model &model) {
  int64_t opset = model.opset();
  if (opset < kOldestOpset || opset > kNewestOpset)
    fail("the model uses opset ", opset, ", expected one from ", kOldestOpset, " to ", kNewestOpset,
         "; export it with opset_version=20");
}

static void addOutputs(const ImportParts &parts, const GraphImporter &importer,
                       std::vector<Remark> &remarks) {
  for (const ValueInfo &output : parts.model.graph.outputs) {
    try {
      Binding computed = importer.resolve(output.name);
      addOutput(output.name, computed, parts.step, parts.strings);
      // Where the user gives other types for inputs, outputs rightly differ from the file's.
      bool isComparable = parts.options.inputs.empty() && computed.isTensor() && !computed.narrow &&
                          !computed.isString;
      if (isComparable)
        if (std::optional<Remark> remark = contradiction(output, computed.values[0]))
          remarks.push_back(*remark);
    } catch (const Failure &failure) {
      parts.unsupported.add(failure);
    }
  }
}

// Names the inputs that may choose branches and sizes: single integers whose value is not given.
static std::string openChoices(mlir::func::FuncOp step) {
  std::string names, option;
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    mlir::Type type = step.getArgument(i).getType();
    bool isChoice = graph::argRole(step, i) == Role::Input &&
                    mlir::isa<mlir::IntegerType>(graph::elementTypeOf(type)) &&
                    graph::elementCount(type) == Polynomial(1);
    if (!isChoice)
      continue;
    std::string name = graph::argName(step, i).str();
    names += concat(names.empty() ? "'" : ", '", name, "'");
    option = option.empty() ? concat("--value ", name, "=N") : option;
  }
  return names.empty() ? ""
                       : concat("; branches and sizes may depend on ", names,
                                ", whose value is not "
                                "known: if so, give ",
                                option);
}

static Imported importModel(mlir::MLIRContext &context, const Model &model, WeightFiles &files,
                            const ImportOptions &options) {
  if (model.graph.outputs.empty())
    fail("the model has no outputs, expected at least one; export it with some");
  std::vector<size_t> order = sortedNodes(model.graph, {});
  ParameterPlan plan = planParameters(model.graph, order, files, {options.tie, options.untie});
  frontend::StepBuilder step(context, model.path);
  StringPool strings;
  UnsupportedOperators unsupported;
  auto inputs = bindInputs(model, options, step, strings, unsupported);
  step.commit(); // so that messages name inputs
  StepTensors tensors(step, files, strings);
  StepParameters parameters(model.graph, plan, step, tensors);
  ImportParts parts{.model = model,
                    .options = options,
                    .step = step,
                    .strings = strings,
                    .tensors = tensors,
                    .parameters = parameters,
                    .unsupported = unsupported};
  GraphImporter importer(parts, std::move(inputs));
  importer.importMain(order);
  addOutputs(parts, importer, plan.remarks);
  importer.addStateResults();
  for (const auto &[other, parameter] : plan.otherNames)
    step.nameAlso(other, parameter);
  unsupported.check(model, openChoices(graph::stepOf(step.module())));
  return step.finish(plan.remarks, model.producer);
}

Result<Imported> importOnnx(mlir::MLIRContext &context, const std::string &path,
                            const ImportOptions &options) {
  try {
    context.loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
    WeightFiles files(path);
    Model model = readModel(files.modelBytes(), path);
    checkOpset(model);
    inlineFunctions(model);
    return importModel(context, model, files, options);
  } catch (const Failure &failure) {
    return failure.status.withContext(path);
  }
}

} // namespace cleave::onnx
