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

#include <atomic>
#include <thread>

using namespace mlir;

namespace cleave::codegen {

static FailureOr<int64_t> emitKernel(program::KernelOp kernel, ModuleOp into, bool checked) {
  if (kernel.instanceCount() > 1)
    return kernel.emitOpError("has instances, which only kernels for GPUs have");
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

namespace {

// Some of the kernels, which one thread compiles.
struct Part {
  LlvmModule module;
  Effort effort;
};

// Kernels that compute no more elements run in microseconds however they are compiled: with Fast, a
// step of an MLP of such kernels takes 12.5 us instead of 11.4, and its plan .19 s instead of .32.
constexpr int64_t kFewElements = 4096;

// The most elements of a value that the kernel reads or computes.
int64_t elementsOf(program::KernelOp kernel) {
  int64_t most = 0;
  auto count = [&](Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()); type && type.hasStaticShape())
      most = std::max(most, type.getNumElements());
  };
  kernel.getComputation().walk([&](Operation *op) {
    llvm::for_each(op->getOperands(), count);
    llvm::for_each(op->getResults(), count);
  });
  return most;
}

} // namespace

// LLVM modules, one for each of several parts of the kernels.
static Status addParts(ArrayRef<program::KernelOp> kernels, Effort effort,
                       const CpuOptions &options, std::vector<Part> &parts) {
  if (kernels.empty())
    return Status::ok();
  MLIRContext *context = kernels.front()->getContext();
  loadDialects(context);
  const size_t count = std::clamp<size_t>(options.threads, 1, kernels.size());
  for (size_t part = 0; part < count; ++part) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
    SmallVector<program::KernelOp> mine;
    for (size_t i = part; i < kernels.size(); i += count)
      mine.push_back(kernels[i]);
    if (failed(emitKernels(mine, *module, options.checked)))
      return Status::defect("its loops could not be made");
    bindSignatures(mine, *module);
    // LLVM vectorises casts from and to bfloat16 by integer ops better than its own, and crashes on
    // some of the vectors that it makes of those.
    CLEAVE_TRY(lowerToLlvm(*module, {.usesLibm = true, .expandsBfloat = true}));
    CLEAVE_TRY_ASSIGN(LlvmModule translated, translate(*module));
    parts.push_back({std::move(translated), effort});
  }
  return Status::ok();
}

static Result<std::vector<Part>> translateParts(ArrayRef<program::KernelOp> kernels,
                                                const CpuOptions &options) {
  SmallVector<program::KernelOp> few, many;
  for (program::KernelOp kernel : kernels)
    (options.checked || elementsOf(kernel) <= kFewElements ? few : many).push_back(kernel);
  std::vector<Part> parts;
  CLEAVE_TRY(addParts(few, Effort::Fast, options, parts));
  CLEAVE_TRY(addParts(many, Effort::Full, options, parts));
  return parts;
}

static Result<std::vector<std::string>> compileParts(std::vector<Part> parts,
                                                     const CpuOptions &options) {
  std::vector<std::string> objects(parts.size());
  std::vector<Status> statuses(parts.size());
  auto compile = [&](size_t i) {
    std::string dump = options.dumpTo.empty() ? "" : concat(options.dumpTo, ".", i, ".ll");
    statuses[i] = runGuarded([&] {
      Result<std::string> object = compileObject(std::move(parts[i].module), parts[i].effort, dump);
      if (object)
        objects[i] = std::move(*object);
      return object.status();
    });
  };
  std::atomic<size_t> next = 0;
  auto compileSome = [&] {
    for (size_t i = next++; i < parts.size(); i = next++)
      compile(i);
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < std::min<int>(options.threads, static_cast<int>(parts.size())); ++i)
    threads.emplace_back(compileSome);
  compileSome();
  for (std::thread &thread : threads)
    thread.join();
  for (const Status &status : statuses)
    CLEAVE_TRY(status);
  return objects;
}

static Result<std::vector<std::string>> objectsOf(ArrayRef<program::KernelOp> kernels,
                                                  const CpuOptions &options) {
  std::optional<std::vector<Part>> parts;
  CLEAVE_TRY(runGuarded([&] {
    Result<std::vector<Part>> made = translateParts(kernels, options);
    if (made)
      parts = std::move(*made);
    return made.status();
  }));
  return compileParts(std::move(*parts), options);
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
