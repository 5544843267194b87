#include "test/fuzz/programs/ProgramCase.h"

#include "compiler/cluster/Presets.h"
#include "compiler/planner/model/ReadStep.h"
#include "dialects/graph/Step.h"
#include "dialects/program/Program.h"
#include "passes/driver/Compile.h"
#include "passes/driver/Diagnostics.h"
#include "passes/driver/Phases.h"
#include "passes/shard/Annotate.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "test/fuzz/programs/Execute.h"
#include "test/fuzz/programs/ThreadDevice.h"
#include "test/unit/shard/RandomPlan.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace mlir;

namespace cleave::fuzz {

namespace {

std::string printed(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

// A file of this process, which is removed with this object.
struct ScratchFile {
  explicit ScratchFile(const std::string &ending)
      : path(std::filesystem::temp_directory_path() /
             ("cleave-case-" + std::to_string(getpid()) + ending)) {}
  ~ScratchFile() { std::filesystem::remove(path); }
  std::string path;
};

class ProgramCheck {
public:
  ProgramCheck(const std::string &text, int64_t *count)
      : spec_(specOf(text)), count_(count), compilation_(optionsOf(spec_)) {
    compilation_.setModule(parseSourceString<ModuleOp>(text, compilation_.context.get()));
  }

  std::string run() {
    if (!compilation_.module())
      return "the case does not parse";
    // Gradients pass through casts to 16-bit floats, in which differences vanish.
    std::string source = printed(compilation_.module());
    bool isSmooth = source.find("stop_gradient") == std::string::npos &&
                    source.find("f16>") == std::string::npos && spec_.dtype == "f32";
    std::map<std::string, int64_t> classes = labelClasses();
    Status status = runPhase("forward");
    if (status)
      status = runPhase("train");
    if (status.kind() == StatusKind::UserError) {
      ++counted(Counted::Unusable);
      return "";
    }
    if (!status)
      return "phases: " + status.message();
    func::FuncOp step = graph::stepOf(compilation_.module());
    ProgramData data(step, classes, spec_.seed);
    Result<std::vector<StepResults>> expected = interpretSteps(step, data, spec_);
    if (!expected)
      return "interpreter: " + expected.status().message();
    if (isSmooth && isPlainDescent(step))
      if (std::string wrong = checkGradients(step, data, spec_, count_); !wrong.empty())
        return wrong;
    if (Status primitive = runPhase("primitive"); !primitive)
      return "phases: " + primitive.message();
    ++counted(Counted::Programs);
    std::string text = printed(compilation_.module());
    for (const PlanSpec &plan : spec_.plans)
      if (std::string wrong = checkPlan(text, plan, data, *expected); !wrong.empty())
        return "plan " + plan.mesh + ": " + wrong;
    return "";
  }

private:
  int64_t &counted(Counted what) { return count_[static_cast<int>(what)]; }

  static driver::CompileOptions optionsOf(const ProgramSpec &spec) {
    driver::CompileOptions options;
    options.train = spec.train;
    options.losses = spec.losses;
    options.optimizer = spec.optimizer;
    options.clipNorm = spec.clip;
    options.accumulate = spec.accumulate;
    options.dtype = spec.dtype;
    options.device = spec.forGpu ? "cuda:sm_90" : "cpu";
    options.checkKernels = !spec.forGpu && spec.seed % 8 != 0; // unchecked ones are vectorized
    return options;
  }

  Status runPhase(const std::string &name) {
    Result<size_t> number = driver::findPhase(name);
    CLEAVE_TRY(driver::phases()[*number].run(compilation_));
    driver::DiagnosticText diagnostics(*compilation_.context);
    return succeeded(verify(compilation_.module())) ? Status::ok()
                                                    : Status::defect(diagnostics.text());
  }

  // The numbers of classes of the labels of cross entropies: the sizes of the last dims of the
  // outputs.
  std::map<std::string, int64_t> labelClasses() {
    std::map<std::string, int64_t> classes;
    func::FuncOp step = graph::stepOf(compilation_.module());
    for (unsigned i = 0; i < step.getNumResults(); ++i)
      if (auto type = dyn_cast<RankedTensorType>(step.getResultTypes()[i]);
          type && type.getRank() > 0)
        for (const std::string &loss : spec_.losses)
          if (loss == "softmax-cross-entropy:" + graph::resultName(step, i).str())
            classes[graph::resultName(step, i).str() + ".label"] = type.getShape().back();
    return classes;
  }

  bool isPlainDescent(func::FuncOp step) {
    return spec_.train && spec_.optimizer == "sgd:lr=1" && spec_.clip == 0 &&
           llvm::any_of(llvm::seq(step.getNumArguments()), [&](unsigned i) {
             return graph::isTrainable(step, i) &&
                    graph::elementTypeOf(step.getArgument(i)).isF64();
           });
  }

  std::string checkPlan(const std::string &text, const PlanSpec &spec, const ProgramData &data,
                        const std::vector<StepResults> &expected) {
    ScratchFile model(".mlir"), output(".plan");
    driver::CompileOptions options = compilation_.options;
    options.model = model.path;
    options.output = output.path;
    options.mesh = *Mesh::parse(spec.mesh);
    options.pin = spec.pin;
    if (spec.memory > 0)
      options.memory = static_cast<int64_t>(spec.memory);
    options.ranks = Mesh::parse(spec.mesh)->ranks();
    options.startFrom = "primitive";
    std::string from = text;
    if (spec.random) {
      options.startFrom = "planned";
      Result<std::string> annotated = randomlyPlanned(text, spec, options.ranks);
      if (!annotated)
        return annotated.status().message();
      from = *annotated;
    }
    std::ofstream(model.path) << from;
    driver::Compilation compilation(options);
    Status status = driver::compile(compilation);
    if (status.kind() == StatusKind::Infeasible) {
      ++counted(Counted::Infeasible);
      return "";
    }
    if (!status)
      return "compiling: " + status.message();
    std::string wrong = runCompiled(compilation, data, expected);
    counted(Counted::Plans) += wrong.empty();
    return wrong;
  }

  std::string runCompiled(driver::Compilation &compilation, const ProgramData &data,
                          const std::vector<StepResults> &expected) {
    if (!spec_.forGpu)
      return runPlan(
          compilation.plan, [] { return device::makeCpuDevice(1); }, data, expected, count_);
    SmallVector<program::KernelOp> kernels(compilation.module().getOps<program::KernelOp>());
    if (kernels.empty()) // a step that only copies
      return "";
    Result<codegen::GpuIr> ir = codegen::lowerForGpu(kernels, "sm_90");
    if (!ir)
      return "kernels: " + ir.status().message();
    return runPlan(compilation.plan, [&] { return makeThreadDevice(*ir); }, data, expected, count_);
  }

  Result<std::string> randomlyPlanned(const std::string &text, const PlanSpec &spec,
                                      int64_t ranks) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, compilation_.context.get());
    if (!module)
      return Status::defect("the primitive step does not parse");
    func::FuncOp step = graph::stepOf(*module);
    FailureOr<planner::StepModel> model = planner::readStep(step);
    if (failed(model))
      return Status::defect("the planner cannot read the step");
    Result<cluster::Cluster> cluster = cluster::findCluster("local-cpu");
    CLEAVE_TRY(cluster.status());
    Result<cluster::Cluster> shared = cluster::forRanks(*cluster, ranks);
    CLEAVE_TRY(shared.status());
    std::mt19937 random(static_cast<uint32_t>(spec.random));
    shard::annotate(step, test::randomPlan(*model, *shared, *Mesh::parse(spec.mesh), random));
    return printed(*module);
  }

  ProgramSpec spec_;
  int64_t *count_;
  driver::Compilation compilation_;
};

} // namespace

std::string checkProgram(const std::string &text, int64_t *count) {
  return ProgramCheck(text, count).run();
}

} // namespace cleave::fuzz
