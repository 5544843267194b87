// Chooses the emitter of each kernel and compiles all of them, spread over threads.
#include "passes/codegen/cpu/CpuCodegen.h"

#include "compiler/artifact/ExportKernel.h"
#include "passes/codegen/cpu/CpuGroupEmitter.h"
#include "passes/codegen/cpu/MachineCode.h"
#include "passes/codegen/nest/Crash.h"
#include "passes/codegen/nest/SingleEmitter.h"

#include "mlir/Pass/Pass.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <thread>

using namespace mlir;

namespace cleave::codegen {

static FailureOr<int64_t> emitKernel(program::KernelOp kernel, ModuleOp into, bool checked) {
  auto fusion = dyn_cast<graph::FusionOp>(kernel.getComputation());
  FailureOr<GroupNest> nest = fusion ? groupNestOf(kernel) : GroupNest();
  if (failed(nest))
    return failure();
  CpuKernel builder(into, kernel, checked);
  if (fusion)
    CpuGroupEmitter(builder, fusion, *nest).emit();
  else if (failed(emitSingle(builder, kernel)))
    return failure();
  return builder.extent();
}

LogicalResult emitKernels(ArrayRef<program::KernelOp> kernels, ModuleOp into, bool checked) {
  loadDialects(into.getContext());
  for (program::KernelOp kernel : kernels) {
    FailureOr<int64_t> extent = emitKernel(kernel, into, checked);
    if (failed(extent))
      return failure();
    kernel.setExtent(*extent);
  }
  return success();
}

// Gives the functions of emitted kernels the names under which the plan looks them up.
static void bindSignatures(ArrayRef<program::KernelOp> kernels, ModuleOp module) {
  for (program::KernelOp kernel : kernels)
    module.lookupSymbol<func::FuncOp>(kernel.getSymName())
        .setSymName(artifact::exportKernel(kernel).symbol());
}

// LLVM modules, one for each of several parts of the kernels.
static Result<std::vector<LlvmModule>> translateParts(ArrayRef<program::KernelOp> kernels,
                                                      const CpuOptions &options) {
  MLIRContext *context = kernels.front()->getContext();
  loadDialects(context);
  size_t parts = std::clamp<size_t>(options.threads, 1, kernels.size());
  std::vector<LlvmModule> modules;
  for (size_t part = 0; part < parts; ++part) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
    SmallVector<program::KernelOp> mine;
    for (size_t i = part; i < kernels.size(); i += parts)
      mine.push_back(kernels[i]);
    if (failed(emitKernels(mine, *module, options.checked)))
      return Status::defect("its loops could not be made");
    bindSignatures(mine, *module);
    // LLVM vectorises casts from and to bfloat16 by integer ops better than its own, and crashes on
    // some of the vectors that it makes of those.
    CLEAVE_TRY(lowerToLlvm(*module, {.usesLibm = true, .expandsBfloat = true}));
    CLEAVE_TRY_ASSIGN(LlvmModule translated, translate(*module));
    modules.push_back(std::move(translated));
  }
  return modules;
}

static Result<std::vector<std::string>> compileParts(std::vector<LlvmModule> modules,
                                                     const CpuOptions &options) {
  std::vector<std::string> objects(modules.size());
  std::vector<Status> statuses(modules.size());
  auto compile = [&](size_t part) {
    std::string dump = options.dumpTo.empty() ? "" : concat(options.dumpTo, ".", part, ".ll");
    statuses[part] = runGuarded([&] {
      Effort effort = options.checked ? Effort::Fast : Effort::Full;
      Result<std::string> object = compileObject(std::move(modules[part]), effort, dump);
      if (object)
        objects[part] = std::move(*object);
      return object.status();
    });
  };
  std::vector<std::thread> threads;
  for (size_t part = 1; part < modules.size(); ++part)
    threads.emplace_back(compile, part);
  compile(0);
  for (std::thread &thread : threads)
    thread.join();
  for (const Status &status : statuses)
    CLEAVE_TRY(status);
  return objects;
}

static Result<std::vector<std::string>> objectsOf(ArrayRef<program::KernelOp> kernels,
                                                  const CpuOptions &options) {
  std::optional<std::vector<LlvmModule>> modules;
  CLEAVE_TRY(runGuarded([&] {
    Result<std::vector<LlvmModule>> made = translateParts(kernels, options);
    if (made)
      modules = std::move(*made);
    return made.status();
  }));
  return compileParts(std::move(*modules), options);
}

// Finds the kernel that cannot be compiled and writes its text to a file.
static Status blame(ArrayRef<program::KernelOp> kernels, CpuOptions options,
                    const Status &together) {
  options.threads = 1;
  options.dumpTo.clear();
  for (program::KernelOp kernel : kernels) {
    Status alone = objectsOf(kernel, options).status();
    if (alone.kind() != StatusKind::Defect)
      continue;
    std::string name = kernel.getSymName().str();
    Result<std::string> file = writeReproducer(kernel, options.reproducer);
    return Status::defect("code generation failed on kernel '" + name + "': " + alone.message() +
                          (file ? "; its text is in " + *file + ", please report it with that file"
                                : "; its text could not be kept: " + file.status().message()));
  }
  return together.withContext("code generation failed, on no kernel alone");
}

Result<CpuLibrary> compileKernels(ArrayRef<program::KernelOp> kernels, const CpuOptions &options) {
  CpuLibrary library;
  library.target = hostTarget();
  if (kernels.empty())
    return library;
  Result<std::vector<std::string>> objects = objectsOf(kernels, options);
  if (objects.status().kind() == StatusKind::Defect)
    return blame(kernels, options, objects.status());
  CLEAVE_TRY(objects.status());
  CLEAVE_TRY_ASSIGN(library.bytes, linkShared(*objects));
  return library;
}

#define GEN_PASS_DEF_CPUCODEGENPASS
#include "passes/codegen/cpu/Passes.h.inc"

namespace {

struct CpuCodegenPass : impl::CpuCodegenPassBase<CpuCodegenPass> {
  void getDependentDialects(DialectRegistry &registry) const override { insertDialects(registry); }
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<program::KernelOp> kernels(module.getOps<program::KernelOp>());
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    if (failed(emitKernels(kernels, ModuleOp::create(b, module.getLoc(), "cpu"))))
      signalPassFailure();
  }
};

} // namespace

void registerCpuCodegenPasses() { PassRegistration<CpuCodegenPass>(); }

} // namespace cleave::codegen
