// See FinishStep.h.
#include "compiler/frontend/step/FinishStep.h"

#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/step/FileBytes.h"
#include "dialects/graph/ByPositions.h"
#include "dialects/graph/F32Region.h"
#include "dialects/graph/Provenance.h"
#include "dialects/graph/SignatureEdit.h"
#include "dialects/graph/StopGradient.h"
#include "dialects/graph/Symbols.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <filesystem>
#include <map>

namespace cleave::frontend {
namespace {

using namespace graph;

// Makes constants of parameters that no floating-point path connects to a result.
void findConstants(mlir::func::FuncOp step) {
  llvm::DenseSet<mlir::Value> reached;
  llvm::SmallVector<mlir::Value> open;
  auto isFloat = [](mlir::Value value) { return mlir::isa<mlir::FloatType>(elementTypeOf(value)); };
  mlir::ValueRange results = step.getBody().front().getTerminator()->getOperands();
  // Without a floating-point result (an arg-max, say) all values count.
  bool anyFloat = llvm::any_of(results, isFloat);
  auto reach = [&](mlir::ValueRange values) {
    for (mlir::Value value : values)
      if ((!anyFloat || isFloat(value)) && reached.insert(value).second)
        open.push_back(value);
  };
  reach(results);
  while (!open.empty())
    if (mlir::Operation *op = open.pop_back_val().getDefiningOp())
      reach(op->getOperands());
  SignatureEdit edit(step);
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (argRole(step, i) == Role::Parameter && !reached.contains(step.getArgument(i)))
      edit.setRole(i, Role::Constant);
  edit.commit();
}

// Drops the stops whose operand does not depend on a parameter, except through other stops.
void dropNeedlessStops(mlir::func::FuncOp step) {
  llvm::DenseSet<mlir::Value> active;
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (argRole(step, i) == Role::Parameter)
      active.insert(step.getArgument(i));
  llvm::SmallVector<StopGradientOp> needless;
  for (mlir::Operation &op : step.getBody().front()) {
    bool depends =
        llvm::any_of(op.getOperands(), [&](mlir::Value v) { return active.contains(v); });
    auto stop = mlir::dyn_cast<StopGradientOp>(op);
    if (stop && !depends) {
      needless.push_back(stop);
    } else if (!stop && depends) {
      for (mlir::Value result : op.getResults())
        if (mlir::isa<mlir::FloatType>(elementTypeOf(result)))
          active.insert(result);
    }
  }
  for (StopGradientOp stop : needless)
    dropGradientStop(stop);
}

// The files that contain constants, each mapped once.
class ConstantFiles {
public:
  explicit ConstantFiles(const std::string &model) : model_(model) {}

  // Ops that compute the constant from the positions of its elements; null if it is no such
  // function.
  mlir::Value compute(mlir::OpBuilder &b, mlir::BlockArgument argument,
                      const TensorOrigin &origin) {
    constexpr int64_t most = int64_t(1) << 24;
    auto type = mlir::cast<mlir::RankedTensorType>(argument.getType());
    int64_t count = type.hasStaticShape() ? type.getNumElements() : most + 1;
    if (count > most || !origin.permutation.empty() || origin.kind == TensorOrigin::Kind::Fill)
      return nullptr;
    if (origin.kind == TensorOrigin::Kind::Inline)
      return buildByPositions(b, argument.getLoc(), type,
                              [&](int64_t i) { return origin.data.values[i]; });
    std::string_view all = bytesOf(origin.path);
    if (origin.bytes != uint64_t(count * byteSize(origin.element)) || origin.offset > all.size() ||
        all.size() - origin.offset < origin.bytes)
      return nullptr;
    std::string_view bytes = all.substr(origin.offset, origin.bytes);
    return buildByPositions(b, argument.getLoc(), type,
                            [&](int64_t i) { return elementAt(bytes, origin.element, i); });
  }

private:
  std::string_view bytesOf(const std::string &path) {
    std::shared_ptr<const MappedFile> &file = files_[path];
    if (!file)
      file = path.empty() ? mapFile(model_, "the model file")
                          : mapExternalFile(model_, path, "the weights file '" + path + "'");
    return file->text();
  }

  std::string model_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;
};

void computeConstants(mlir::func::FuncOp step, const std::string &path) {
  ConstantFiles files(path);
  mlir::OpBuilder b = mlir::OpBuilder::atBlockBegin(&step.getBody().front());
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    mlir::BlockArgument argument = step.getArgument(i);
    if (argRole(step, i) != Role::Constant || argument.use_empty())
      continue;
    if (std::optional<TensorOrigin> origin = originOf(step, i))
      if (mlir::Value computed = files.compute(b, argument, *origin))
        argument.replaceAllUsesWith(computed);
  }
}

// Makes constants of states that the step only reads, such as frozen running statistics. They stay
// arguments, whatever their values in the file are: trained weights may replace them.
void findUnwrittenStates(mlir::func::FuncOp step) {
  llvm::SmallDenseSet<unsigned> written;
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (std::optional<unsigned> argument = aliasOf(step, i))
      written.insert(*argument);
  SignatureEdit edit(step);
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (argRole(step, i) == Role::State && !written.contains(i))
      edit.setRole(i, Role::Constant);
  edit.commit();
}

void eraseUnusedConstants(mlir::func::FuncOp step) {
  llvm::BitVector unused(step.getNumArguments());
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    unused[i] = argRole(step, i) == Role::Constant && step.getArgument(i).use_empty();
  eraseArguments(step, unused);
}

} // namespace

void finishStep(mlir::ModuleOp module, const std::string &path,
                const std::vector<Polynomial> &assumptions) {
  mlir::func::FuncOp step = stepOf(module);
  buildF32Borders(step);
  findConstants(step);
  dropNeedlessStops(step);
  computeConstants(step, path);
  findUnwrittenStates(step);
  for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(step.getBody().front())))
    if (mlir::isOpTriviallyDead(&op))
      op.erase();
  eraseUnusedConstants(step);
  setAssumptions(module, assumptions);
  std::error_code error; // the importer has read the file
  setSourceModel(module, {std::filesystem::absolute(path, error).string(),
                          std::filesystem::file_size(path, error), /*sha256=*/""});
  if (mlir::failed(mlir::verify(module)))
    throw emit::Failure{Status::defect("the imported model does not verify")};
}

} // namespace cleave::frontend
