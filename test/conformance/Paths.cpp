// See Paths.h.
#include "test/conformance/Paths.h"

#include "compiler/frontend/onnx/Import.h"
#include "compiler/frontend/onnx/file/Model.h"
#include "compiler/frontend/onnx/file/Weights.h"
#include "compiler/interpret/Interpret.h"
#include "dialects/graph/KnownStrings.h"
#include "dialects/graph/Step.h"
#include "passes/autodiff/Autodiff.h"
#include "passes/driver/Compile.h"
#include "runtime/artifact/Artifact.h"
#include "runtime/comm/local/LocalWorld.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/executor/Executor.h"

#include <algorithm>
#include <filesystem>

namespace cleave::conformance {
namespace {

// -- what a user would say about the model
// -------------------------------------------------------------------------------------------------

// Sets the sizes of the inputs' open dims to those of the example.
void setSymbols(const Case &test, const Example &example, onnx::ImportOptions &options) {
  onnx::WeightFiles files(test.model());
  onnx::Model model = onnx::readModel(files.modelBytes(), test.model());
  for (const onnx::ValueInfo &input : model.graph.inputs) {
    if (input.isSequence || input.isOptional) // described as a whole
      continue;
    const std::vector<int64_t> &shape = example.inputs.at(input.name).shape;
    for (size_t i = 0; i < input.dims.size() && i < shape.size(); ++i) {
      const onnx::Dim &dim = input.dims[i];
      if (!dim.size || *dim.size == 0)
        options.symbols[dim.symbol.empty() ? input.name + "." + std::to_string(i) : dim.symbol] =
            shape[i];
    }
  }
}

// The input whose value an error message asks for; empty if there is none.
std::string askedFor(const std::string &message) {
  const std::string option = "--value ";
  size_t begin = message.find(option);
  if (begin == std::string::npos)
    return "";
  begin += option.size();
  return message.substr(begin, message.find('=', begin) - begin);
}

// Imports the model, and repeats the import with the values of inputs that error messages ask for.
Result<onnx::Imported> import(mlir::MLIRContext &context, const Case &test, const Example &example,
                              onnx::ImportOptions &options) {
  setSymbols(test, example, options);
  options.differentiate = autodiff::buildGradients;
  for (const std::string &text : example.described) {
    Result<frontend::InputType> input = frontend::parseInput(text);
    CLEAVE_TRY(input.status());
    options.inputs.push_back(*input);
  }
  while (true) {
    Result<onnx::Imported> imported = onnx::importOnnx(context, test.model(), options);
    std::string asked = imported ? "" : askedFor(imported.status().message());
    if (!example.inputs.contains(asked) || options.values.contains(asked) ||
        options.strings.contains(asked))
      return imported;
    const Array &value = example.inputs.at(asked);
    if (value.isText)
      options.strings[asked] = value.texts;
    else
      options.values[asked] = value.tensor().values;
  }
}

// -- import and interpreter -----------------------------------------------------------------------

// The first value of an argument that is not an input: from the model file, or from its origin.
Result<Tensor> initialValue(const graph::TensorOrigin &origin, mlir::Value argument,
                            const Case &test) {
  using Kind = graph::TensorOrigin::Kind;
  std::vector<int64_t> shape = graph::staticShapeOf(argument);
  if (origin.kind == Kind::Inline)
    return origin.data;
  if (origin.kind == Kind::Fill)
    return Tensor(graph::toElementType(graph::elementTypeOf(argument)), shape, origin.fill);
  if (!origin.path.empty() || !origin.permutation.empty())
    return Status::userError("the runner reads no external or transposed weights");
  onnx::WeightFiles files(test.model());
  std::string bytes(files.modelBytes().substr(origin.offset, origin.bytes));
  return Array{origin.element, shape, bytes, false, {}}.tensor();
}

Result<Outcome> interpretCase(const Case &test, const Example &example) {
  mlir::MLIRContext context;
  onnx::ImportOptions options;
  Result<onnx::Imported> imported = import(context, test, example, options);
  CLEAVE_TRY(imported.status());
  mlir::func::FuncOp step = graph::stepOf(*imported->module);
  std::vector<Tensor> arguments;
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    if (graph::argRole(step, i) == Role::Input) {
      arguments.push_back(example.inputs.at(graph::argName(step, i).str()).tensor());
      continue;
    }
    Result<Tensor> value = initialValue(*graph::originOf(step, i), step.getArgument(i), test);
    CLEAVE_TRY(value.status());
    arguments.push_back(*value);
  }
  Result<std::vector<Tensor>> results = interpret::run(step, arguments);
  CLEAVE_TRY(results.status());
  Outcome out;
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (graph::resultRole(step, i) == Role::Output)
      out.tensors[graph::resultName(step, i).str()] = (*results)[i];
  for (const graph::KnownStrings &known : graph::knownStringsOf(*imported->module))
    out.texts[known.name] = {ElementType::I64, known.shape, "", true, known.elements};
  return out;
}

// -- compiler and runtime -------------------------------------------------------------------------

// The example's inputs as a data source. There is one rank, which always reads whole tensors.
class ExampleData : public data::DataSource {
public:
  ExampleData(const Example &example, std::vector<data::InputDescription> inputs)
      : example_(example), inputs_(std::move(inputs)) {}
  int64_t samples() const override { return 1; }
  int64_t samplesPerMicroBatch() const override { return 1; }
  Status fill(size_t input, int64_t, int64_t, const std::vector<int64_t> &,
              const std::vector<int64_t> &shape, void *destination) const override {
    const Array &array = example_.inputs.at(inputs_[input].name);
    if (array.shape != shape)
      return Status::defect("the runtime wants another shape of input '", inputs_[input].name, "'");
    std::ranges::copy(array.bytes, static_cast<char *>(destination));
    return Status::ok();
  }

private:
  const Example &example_;
  std::vector<data::InputDescription> inputs_;
};

Result<plan::Plan> compileCase(const Case &test, const Example &example,
                               const std::string &scratch) {
  driver::CompileOptions options;
  {
    mlir::MLIRContext context;
    onnx::ImportOptions found;
    CLEAVE_TRY(import(context, test, example, found).status());
    options.symbols = found.symbols;
    options.values = found.values;
    options.strings = found.strings;
  }
  options.inputs = example.described;
  options.model = test.model();
  options.output = scratch + "/case.plan";
  driver::Compilation compilation(options);
  CLEAVE_TRY(driver::compile(compilation));
  return artifact::readPlan(options.output);
}

Result<Outcome> compileAndRun(const Case &test, const Example &example,
                              const std::string &scratch) {
  Result<plan::Plan> plan = compileCase(test, example, scratch);
  CLEAVE_TRY(plan.status());
  auto worlds = comm::makeLocalWorlds(1);
  ExampleData data(example, executor::inputsOf(*plan));
  executor::ExecutorOptions options;
  options.keepOutputs = true;
  auto executor =
      executor::Executor::create(*plan, *worlds[0], device::makeCpuDevice(1), &data, options);
  CLEAVE_TRY(executor.status());
  CLEAVE_TRY((*executor)->step(0));
  Outcome out;
  for (const plan::KnownTexts &known : plan->known_texts())
    out.texts[known.name()] = {ElementType::I64,
                               {known.shape().begin(), known.shape().end()},
                               "",
                               true,
                               {known.elements().begin(), known.elements().end()}};
  for (const executor::StoredOutput &stored : (*executor)->storedOutputs()) {
    const plan::Tensor &what = plan->tensors(stored.tensor);
    std::vector<int64_t> shape(what.shape().begin(), what.shape().end());
    std::string bytes(stored.block.begin(), stored.block.end());
    out.tensors[what.name()] =
        Array{static_cast<DType>(what.dtype()), shape, bytes, false, {}}.tensor();
  }
  return out;
}

} // namespace

Result<Outcome> compute(Path path, const Case &test, const Example &example,
                        const std::string &scratch) {
  return path == Path::Interpret ? interpretCase(test, example)
                                 : compileAndRun(test, example, scratch);
}

} // namespace cleave::conformance
