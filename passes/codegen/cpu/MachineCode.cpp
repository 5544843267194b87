// LLVM's code generator for this machine, and the linker.
#include "passes/codegen/cpu/MachineCode.h"

#include "passes/codegen/cpu/CpuKernel.h"
#include "runtime/base/FileWriter.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <deque>

using namespace mlir;

namespace cleave::codegen {

namespace {

std::string hostFeatures() {
  std::vector<std::string> features;
  for (auto &[name, enabled] : llvm::sys::getHostCPUFeatures())
    if (enabled)
      features.push_back("+" + name.str());
  llvm::sort(features);
  return llvm::join(features, ",");
}

Result<std::unique_ptr<llvm::TargetMachine>> targetMachine(Effort effort) {
  static bool initialised =
      (llvm::InitializeNativeTarget(), llvm::InitializeNativeTargetAsmPrinter(), true);
  (void)initialised;
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return Status::defect("LLVM has no code generator for this machine: ", error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard; // only where an operation allows it
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, llvm::sys::getHostCPUName(), hostFeatures(), options, llvm::Reloc::PIC_, std::nullopt,
      effort == Effort::Fast ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default));
  return machine;
}

// Attributes that LLVM does not derive: pointers of bodies do not alias and are aligned; wide
// vectors are preferred.
void annotate(llvm::Module &module) {
  std::string cpu = llvm::sys::getHostCPUName().str(), features = hostFeatures();
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", cpu);
    function.addFnAttr("target-features", features);
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr("no-trapping-math", "true");
    function.addFnAttr(llvm::Attribute::NoUnwind);
    if (!function.getName().ends_with(kBodySuffix) && function.getName() != kCheck)
      continue;
    function.addFnAttr(llvm::Attribute::NoInline);
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    if (function.getName() == kCheck)
      continue;
    for (llvm::Argument &argument : function.args())
      if (argument.getType()->isPointerTy()) {
        argument.addAttr(llvm::Attribute::NoAlias);
        argument.addAttr(llvm::Attribute::getWithAlignment(module.getContext(), llvm::Align(64)));
      }
  }
}

// bfloat @name(from): rounds to nearest, ties to even; NaN stays NaN. Every object has one; the
// linker keeps one of them.
void defineRounding(llvm::Module &module, StringRef name, llvm::Type *from) {
  llvm::IRBuilder<> b(module.getContext());
  auto *type = llvm::FunctionType::get(b.getBFloatTy(), {from}, false);
  auto *function = llvm::Function::Create(type, llvm::GlobalValue::WeakAnyLinkage, name, module);
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", function));
  llvm::Value *x = function->getArg(0), *narrow = b.CreateFPTrunc(x, b.getFloatTy()),
              *bits = b.CreateBitCast(narrow, b.getInt32Ty()), *isNan = b.CreateFCmpUNO(x, x);
  if (from->isDoubleTy()) { // to odd, so that nothing is rounded twice
    auto magnitude = [&](llvm::Value *value) {
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
    };
    llvm::Value *wide = b.CreateFPExt(narrow, from);
    llvm::Value *isLarger = b.CreateFCmpOGT(magnitude(wide), magnitude(x));
    llvm::Value *isInexact = b.CreateFCmpONE(wide, x);
    bits = b.CreateSub(bits, b.CreateZExt(isLarger, b.getInt32Ty()));
    bits = b.CreateOr(bits, b.CreateZExt(isInexact, b.getInt32Ty()));
  }
  llvm::Value *isOdd = b.CreateAnd(b.CreateLShr(bits, 16), 1);
  llvm::Value *rounded = b.CreateAdd(b.CreateAdd(bits, b.getInt32(0x7fff)), isOdd);
  llvm::Value *quiet = b.CreateOr(bits, b.getInt32(0x400000));
  llvm::Value *high = b.CreateLShr(b.CreateSelect(isNan, quiet, rounded), 16);
  b.CreateRet(b.CreateBitCast(b.CreateTrunc(high, b.getInt16Ty()), b.getBFloatTy()));
}

} // namespace

std::string hostTarget() { return llvm::sys::getHostCPUName().str() + " " + hostFeatures(); }

Result<std::string> compileObject(LlvmModule translated, Effort effort, const std::string &dumpTo) {
  llvm::Module *llvmModule = translated.module.get();
  Result<std::unique_ptr<llvm::TargetMachine>> machine = targetMachine(effort);
  if (!machine)
    return machine.status();
  llvmModule->setTargetTriple((*machine)->getTargetTriple());
  llvmModule->setDataLayout((*machine)->createDataLayout());
  annotate(*llvmModule);
  optimise(*llvmModule, **machine,
           effort == Effort::Fast ? llvm::OptimizationLevel::O1 : llvm::OptimizationLevel::O2);
  // The functions that LLVM calls on processors that cannot round to bfloat16; libgcc has them from
  // GCC 13 on.
  defineRounding(*llvmModule, "__truncsfbf2", llvm::Type::getFloatTy(*translated.context));
  defineRounding(*llvmModule, "__truncdfbf2", llvm::Type::getDoubleTy(*translated.context));
  if (!dumpTo.empty())
    CLEAVE_TRY(writeFile(dumpTo, textOf(*llvmModule)));
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream out(object);
  llvm::legacy::PassManager emitter;
  if ((*machine)->addPassesToEmitFile(emitter, out, nullptr, llvm::CodeGenFileType::ObjectFile))
    return Status::defect("LLVM cannot write object files for this machine");
  emitter.run(*llvmModule);
  return std::string(object.begin(), object.end());
}

static Status writeTemporary(const std::string &path, const std::string &content) {
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (!error) {
    file << content;
    file.close();
    error = file.error();
    file.clear_error(); // otherwise its destructor ends the process
  }
  return error ? Status::userError("cannot write the kernels to the temporary folder: ",
                                   error.message())
               : Status::ok();
}

// The linker of an installation (tools/package), else of Debian, else of the LLVM that Cleave was
// built with.
static llvm::ErrorOr<std::string> findLinker() {
  llvm::SmallString<128> installed(llvm::sys::fs::getMainExecutable(nullptr, nullptr));
  llvm::sys::path::remove_filename(installed);
  llvm::sys::path::append(installed, "..", "lib", "cleave", "bin");
  if (auto linker = llvm::sys::findProgramByName("ld.lld", {installed}))
    return linker;
  if (auto linker = llvm::sys::findProgramByName("ld.lld-22"))
    return linker;
  return llvm::sys::findProgramByName("ld.lld", {CLEAVE_LLVM_BIN});
}

Result<std::string> linkShared(const std::vector<std::string> &objects) {
  std::vector<std::string> arguments = {"ld.lld", "-shared", "--gc-sections", "-s", "-o", ""};
  std::deque<llvm::FileRemover> removers; // not to be moved
  auto temporary = [&](StringRef ending) -> std::string {
    llvm::SmallString<128> path;
    if (llvm::sys::fs::createTemporaryFile("cleave-kernels", ending, path))
      return "";
    removers.emplace_back(path);
    return path.str().str();
  };
  std::string output = arguments[5] = temporary("so");
  for (const std::string &object : objects) {
    arguments.push_back(temporary("o"));
    CLEAVE_TRY(writeTemporary(arguments.back(), object));
  }
  auto linker = findLinker();
  if (!linker)
    return Status::userError("the linker ld.lld is missing; install the package lld-22");
  std::vector<StringRef> references(arguments.begin(), arguments.end());
  std::string message;
  if (llvm::sys::ExecuteAndWait(*linker, references, std::nullopt, {}, 0, 0, &message) != 0)
    return Status::defect("the kernels could not be linked: ", message);
  auto buffer = llvm::MemoryBuffer::getFile(output);
  if (!buffer)
    return Status::defect("the linked kernels could not be read: " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

} // namespace cleave::codegen
