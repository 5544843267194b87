// The kernel finds its instance by the index of its block, loads the addresses of that instance,
// and calls the function. Inlining turns the function's promise that its buffers do not overlap
// into scopes of aliasing in the kernel.
#include "passes/codegen/gpu/Instances.h"

#include "passes/codegen/gpu/Ptx.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

namespace cleave::codegen {

void launchInstances(llvm::Module &module, const std::string &symbol, int64_t instances,
                     int64_t blocks) {
  llvm::Function *one = module.getFunction(symbol);
  one->setName(symbol + "_instance");
  one->setLinkage(llvm::GlobalValue::InternalLinkage);
  one->addFnAttr(llvm::Attribute::AlwaysInline);
  markBuffers(*one);
  const uint64_t buffers = one->arg_size() - 1;
  llvm::IRBuilder<> b(module.getContext());
  auto *addresses = llvm::ArrayType::get(b.getPtrTy(), buffers * instances);
  auto *type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, /*isVarArg=*/false);
  auto *kernel = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, symbol, module);
  llvm::Argument *table = kernel->getArg(0);
  table->addAttr(llvm::Attribute::getWithByValType(module.getContext(), addresses));
  table->addAttr(llvm::Attribute::getWithAlignment(module.getContext(), llvm::Align(8)));
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", kernel));
  llvm::Value *number = b.CreateZExt(
      b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, {}), b.getInt64Ty());
  llvm::Value *instance = b.CreateUDiv(number, b.getInt64(blocks));
  llvm::Value *first = b.CreateMul(instance, b.getInt64(buffers));
  llvm::SmallVector<llvm::Value *> arguments;
  for (uint64_t i = 0; i < buffers; ++i)
    arguments.push_back(b.CreateLoad(
        b.getPtrTy(),
        b.CreateInBoundsGEP(addresses, table, {b.getInt64(0), b.CreateAdd(first, b.getInt64(i))})));
  arguments.push_back(b.CreateSub(number, b.CreateMul(instance, b.getInt64(blocks))));
  b.CreateCall(one, arguments);
  b.CreateRetVoid();
}

} // namespace cleave::codegen
