// Emits each kernel, and compiles all of them as one module.
#include "passes/codegen/gpu/GpuCodegen.h"

#include "compiler/artifact/ExportKernel.h"
#include "passes/codegen/gpu/Bfloats.h"
#include "passes/codegen/gpu/Functions.h"
#include "passes/codegen/gpu/GpuAttention.h"
#include "passes/codegen/gpu/GpuGroupEmitter.h"
#include "passes/codegen/gpu/GpuGroupedMatmul.h"
#include "passes/codegen/gpu/GpuMaxPool.h"
#include "passes/codegen/gpu/GpuPoolGrad.h"
#include "passes/codegen/gpu/GpuScatter.h"
#include "passes/codegen/gpu/Instances.h"
#include "passes/codegen/gpu/Ptx.h"
#include "passes/codegen/nest/Crash.h"
#include "passes/codegen/nest/SingleEmitter.h"
#include "runtime/artifact/KernelSignature.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace cleave::codegen {

static FailureOr<GpuFunction> emitKernel(program::KernelOp kernel, ModuleOp into) {
  auto fusion = dyn_cast<graph::FusionOp>(kernel.getComputation());
  FailureOr<GroupNest> nest = fusion ? groupNestOf(kernel, /*maySweep=*/true) : GroupNest();
  if (failed(nest))
    return failure();
  GpuKernel builder(into, kernel);
  if (fusion)
    GpuGroupEmitter(builder, fusion, *nest).emit();
  else if (isa<graph::AttentionOp, graph::AttentionGradOp>(kernel.getComputation()))
    emitAttention(builder, kernel);
  else if (isa<graph::GroupedMatmulOp, graph::GroupedWeightGradOp>(kernel.getComputation()))
    emitGroupedMatmul(builder, kernel);
  else if (isChannelsLastMaxPool(kernel))
    emitMaxPool(builder, kernel);
  else if (isa<graph::PoolGradOp>(kernel.getComputation()))
    emitPoolGrad(builder, kernel);
  else if (isa<graph::ScatterOp>(kernel.getComputation()))
    emitScatter(builder, kernel);
  else if (failed(emitSingle(builder, kernel)))
    return failure();
  Launch launch = builder.launch();
  launch.instances = kernel.instanceCount();
  launch.blocks *= launch.instances;
  kernel.setExtent(0);
  kernel.setGrid(ArrayRef<int64_t>{launch.blocks, launch.threads, launch.sharedBytes});
  return GpuFunction{kernel.getSymName().str(), launch};
}

FailureOr<std::vector<GpuFunction>> emitGpuKernels(ArrayRef<program::KernelOp> kernels,
                                                   ModuleOp into) {
  loadDialects(into.getContext());
  std::vector<GpuFunction> functions;
  for (program::KernelOp kernel : kernels) {
    FailureOr<GpuFunction> function = emitKernel(kernel, into);
    if (failed(function))
      return failure();
    functions.push_back(std::move(*function));
  }
  return functions;
}

static Result<GpuIr> lower(ArrayRef<program::KernelOp> kernels, const GpuTarget &target) {
  MLIRContext *context = kernels.front()->getContext();
  loadDialects(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  FailureOr<std::vector<GpuFunction>> functions = emitGpuKernels(kernels, *module);
  if (failed(functions))
    return Status::defect("the code of its threads could not be made");
  CLEAVE_TRY(expandFunctions(*module));
  expandBfloats(*module);
  for (auto [kernel, function] : llvm::zip(kernels, *functions)) {
    program::KernelOp op = kernel;
    function.symbol = artifact::entryOf(artifact::exportKernel(op));
    module->lookupSymbol<func::FuncOp>(op.getSymName()).setSymName(function.symbol);
  }
  CLEAVE_TRY(lowerToLlvm(*module, {}));
  CLEAVE_TRY_ASSIGN(LlvmModule translated, translate(*module));
  for (const GpuFunction &function : *functions) {
    const Launch &launch = function.launch;
    if (launch.instances > 1)
      launchInstances(*translated.module, function.symbol, launch.instances,
                      launch.blocks / launch.instances);
    markKernel(*translated.module, function.symbol, launch.threads, launch.resident);
  }
  CLEAVE_TRY(optimiseForGpu(*translated.module, target));
  return GpuIr{std::move(translated), std::move(*functions)};
}

Result<GpuIr> lowerForGpu(ArrayRef<program::KernelOp> kernels, const std::string &name) {
  CLEAVE_TRY_ASSIGN(GpuTarget target, gpuTargetOf(name));
  std::optional<GpuIr> ir;
  CLEAVE_TRY(runGuarded([&] {
    Result<GpuIr> made = lower(kernels, target);
    if (made)
      ir.emplace(std::move(*made));
    return made.status();
  }));
  return std::move(*ir);
}

Result<GpuModule> compileForGpu(ArrayRef<program::KernelOp> kernels, const std::string &name) {
  GpuModule module{name, "", {}};
  CLEAVE_TRY_ASSIGN(GpuTarget target, gpuTargetOf(name));
  if (kernels.empty())
    return module;
  CLEAVE_TRY_ASSIGN(GpuIr ir, lowerForGpu(kernels, name));
  CLEAVE_TRY(runGuarded([&] {
    Result<std::string> ptx = emitPtx(*ir.llvm.module, target);
    if (ptx)
      module.ptx = std::move(*ptx);
    return ptx.status();
  }));
  module.functions = std::move(ir.functions);
  return module;
}

#define GEN_PASS_DEF_GPUCODEGENPASS
#include "passes/codegen/gpu/Passes.h.inc"

namespace {

struct GpuCodegenPass : impl::GpuCodegenPassBase<GpuCodegenPass> {
  void getDependentDialects(DialectRegistry &registry) const override { insertDialects(registry); }
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<program::KernelOp> kernels(module.getOps<program::KernelOp>());
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    ModuleOp into = ModuleOp::create(b, module.getLoc(), "gpu");
    FailureOr<std::vector<GpuFunction>> functions = emitGpuKernels(kernels, into);
    if (failed(functions))
      return signalPassFailure();
    for (const GpuFunction &function : *functions) {
      const Launch &launch = function.launch;
      into.lookupSymbol(function.symbol)
          ->setAttr("launch",
                    b.getDenseI64ArrayAttr({launch.blocks, launch.threads, launch.sharedBytes}));
    }
  }
};

} // namespace

void registerGpuCodegenPasses() { PassRegistration<GpuCodegenPass>(); }

} // namespace cleave::codegen
