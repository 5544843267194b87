// LLVM's crash recovery, and the text of a kernel.
#include "passes/codegen/nest/Crash.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <mutex>

using namespace mlir;

namespace cleave::codegen {

namespace {

// Installs LLVM's signal handlers while any thread needs them.
class Handlers {
public:
  Handlers() {
    std::lock_guard lock(mutex_);
    if (users_++ == 0)
      llvm::CrashRecoveryContext::Enable();
  }
  ~Handlers() {
    std::lock_guard lock(mutex_);
    if (--users_ == 0)
      llvm::CrashRecoveryContext::Disable();
  }

private:
  static inline std::mutex mutex_;
  static inline int users_ = 0;
};

} // namespace

Status runGuarded(llvm::function_ref<Status()> work) {
  Handlers handlers;
  llvm::CrashRecoveryContext context;
  Status status;
  if (context.RunSafely([&] { status = work(); }))
    return status;
  // The exit code 128 + signal, as shells report it.
  const char *name = strsignal(context.RetCode & 127);
  return Status::defect(std::string("it crashed (") + (name ? name : "unknown signal") + ")");
}

Result<std::string> writeReproducer(program::KernelOp kernel, const std::string &prefix) {
  llvm::SmallString<128> path;
  int file = -1;
  std::error_code error =
      prefix.empty() ? llvm::sys::fs::createTemporaryFile("cleave-kernel", "mlir", file, path)
                     : llvm::sys::fs::createUniqueFile(prefix + ".%%%%%%.mlir", file, path);
  if (error)
    return Status::userError(error.message());
  llvm::raw_fd_ostream out(file, /*shouldClose=*/true);
  auto module = kernel->getParentOfType<ModuleOp>();
  out << "module";
  if (module && !module->getDiscardableAttrDictionary().empty())
    out << " attributes " << module->getDiscardableAttrDictionary();
  out << " {\n";
  kernel->print(out);
  out << "\n}\n";
  return path.str().str();
}

} // namespace cleave::codegen
