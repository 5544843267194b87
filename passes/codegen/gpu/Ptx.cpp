// LLVM's NVPTX target.
#include "passes/codegen/gpu/Ptx.h"

#include "runtime/artifact/Modules.h"
#include "runtime/base/Nearest.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace cleave::codegen {

namespace {

void initialise() {
  static bool done = (LLVMInitializeNVPTXTargetInfo(), LLVMInitializeNVPTXTarget(),
                      LLVMInitializeNVPTXTargetMC(), LLVMInitializeNVPTXAsmPrinter(), true);
  (void)done;
}

Result<std::unique_ptr<llvm::TargetMachine>> machineOf(const GpuTarget &target) {
  initialise();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *llvmTarget = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!llvmTarget)
    return Status::userError("this LLVM has no code generator for NVIDIA's GPUs: ", error,
                             "; build with an LLVM that has the target NVPTX");
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard; // only where an operation allows it
  std::unique_ptr<llvm::TargetMachine> machine(
      llvmTarget->createTargetMachine(triple, target.name, target.version, options, std::nullopt,
                                      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  return machine;
}

} // namespace

const std::vector<GpuTarget> &gpuTargets() {
  // The PTX versions of the first CUDA releases that have bf16 arithmetic for the target.
  static const std::vector<GpuTarget> targets = {
      {"sm_80", "+ptx78"}, {"sm_90", "+ptx78"}, {"sm_100", "+ptx86"}};
  return targets;
}

Result<GpuTarget> gpuTargetOf(const std::string &name) {
  std::vector<std::string> known;
  for (const GpuTarget &target : gpuTargets()) {
    if (target.name == name)
      return target;
    known.push_back(target.name);
  }
  return Status::userError("unknown GPU target '", name, "'", suggestion(name, known));
}

Result<GpuTarget> gpuTargetFor(const std::string &capability) {
  const int number = artifact::computeCapabilityOf(capability);
  const GpuTarget *newest = nullptr;
  for (const GpuTarget &target : gpuTargets())
    if (artifact::computeCapabilityOf(target.name) <= number)
      newest = &target;
  if (newest)
    return *newest;
  return Status::userError("found the GPU '", capability, "', expected sm_80 or a later one");
}

void markBuffers(llvm::Function &function) {
  for (llvm::Argument &argument : function.args())
    if (argument.getType()->isPointerTy() && !argument.hasByValAttr()) {
      argument.addAttr(llvm::Attribute::NoAlias);
      argument.addAttr(llvm::Attribute::getWithAlignment(function.getContext(), llvm::Align(64)));
    }
}

void markKernel(llvm::Module &module, const std::string &name, int threads, int resident) {
  llvm::Function *function = module.getFunction(name);
  function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  function->addFnAttr("nvvm.reqntid", std::to_string(threads));
  if (resident > 0)
    function->addFnAttr("nvvm.minctasm", std::to_string(resident));
  function->addFnAttr("no-trapping-math", "true");
  function->addFnAttr(llvm::Attribute::NoUnwind);
  markBuffers(*function);
}

Status optimiseForGpu(llvm::Module &module, const GpuTarget &target) {
  CLEAVE_TRY_ASSIGN(std::unique_ptr<llvm::TargetMachine> machine, machineOf(target));
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  optimise(module, *machine, llvm::OptimizationLevel::O2);
  return Status::ok();
}

Result<std::string> emitPtx(llvm::Module &module, const GpuTarget &target) {
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic())
      return Status::defect("the kernels call '", function.getName().str(),
                            "', which no library for GPUs is linked for");
  CLEAVE_TRY_ASSIGN(std::unique_ptr<llvm::TargetMachine> machine, machineOf(target));
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager emitter;
  if (machine->addPassesToEmitFile(emitter, out, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return Status::defect("LLVM cannot write PTX");
  emitter.run(module);
  std::string ptx(text.begin(), text.end());
  if (size_t at = ptx.find(".extern"); at != std::string::npos)
    return Status::defect("the kernels need a function that is not linked: ",
                          ptx.substr(at, ptx.find('\n', at) - at));
  return ptx;
}

} // namespace cleave::codegen
