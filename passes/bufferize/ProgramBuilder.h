// ProgramBuilder: adds buffers, kernels and instructions to a program under construction.
#pragma once

#include "passes/bufferize/View.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>

namespace cleave::bufferize {

// A tensor of the program, and its index.
struct SharedTensor {
  program::TensorOp op;
  int64_t index;
};

// Attributes of the program.tensor of an input; each may be null.
struct InputFacts {
  mlir::IntegerAttr vocabulary, lowest, ignored; // the integers that it may hold
  bool isLabel = false;
  mlir::StringAttr allOf; // the input of which it holds all micro-batches
};

// The tensors and kernels of a module, which its programs share.
struct ProgramTables {
  int64_t tensors = 0;
  std::map<std::string, program::KernelOp> kernels; // by what they compute, on which views
};

class ProgramBuilder {
public:
  // Creates a program at the end of the module; tensors and kernels are added before its programs.
  // The tables outlive the builder.
  ProgramBuilder(mlir::ModuleOp module, ProgramTables &tables,
                 program::Kind kind = program::Kind::Step);

  // Gives this program, which is empty, the tensors and the persistent buffers of another one of
  // the module, at their offsets.
  void share(program::ProgramOp other);

  // Lets this program, which is empty, use the tensors of the module's other programs.
  void shareTensors() { sharedTensors_ = tables_.tensors; }

  // The program under construction, and its context.
  program::ProgramOp program() { return program_; }
  mlir::MLIRContext *context() { return b_.getContext(); }
  // Sets the op of the step that the following instructions implement, for profiles and messages;
  // may be null.
  void setSource(mlir::Operation *op);
  // Sets the number of the step's result that the following instructions return; -1: of none.
  void setResult(int result) { result_ = result; }
  // Adds a segment at the end and makes it the one that instructions are added to.
  program::SegmentOp addSegment(llvm::StringRef name);
  void setSegment(program::SegmentOp segment) { segment_ = segment; }

  // Adds a logical tensor and returns its index. `input`: facts about an input.
  int64_t addTensor(llvm::StringRef name, program::Role role, mlir::Type type, mlir::ArrayAttr dims,
                    mlir::StringAttr parameter, mlir::Attribute origin,
                    const InputFacts &input = {});
  // Adds a buffer for a dense tensor; `tensor`: index of the logical tensor whose block it holds,
  // or -1.
  mlir::Value addBuffer(llvm::StringRef name, program::Role role, mlir::Type element,
                        llvm::ArrayRef<int64_t> shape, int64_t tensor = -1);

  // The shared tensor with this name, type and origin (null: none), if there is one.
  std::optional<SharedTensor> findShared(llvm::StringRef name, mlir::Type type,
                                         mlir::Attribute origin);
  // The first buffer of this role and tensor; null if there is none.
  mlir::Value findBuffer(program::Role role, int64_t tensor);

  // Launches `op`, which is cloned into a kernel, on operands and results in these views. `extra`,
  // if given, is the kernel's last buffer. Without an instruction, and null, if no result has an
  // element.
  program::LaunchOp launch(mlir::Operation *op, llvm::ArrayRef<View> operands,
                           llvm::ArrayRef<View> results, mlir::Value extra = {});
  // Copies elements between equally shaped views, converted to the type of `to`; without an
  // instruction if these are one place.
  void copy(const View &from, const View &to);
  void fill(mlir::Value buffer, double value);

  // The element type and the number of elements of a buffer.
  static mlir::Type elementOf(mlir::Value buffer);
  static int64_t elementsOf(mlir::Value buffer);

  // Adds an instruction built by the caller's function.
  template <typename Op, typename... Args> Op add(Args &&...args) {
    mlir::OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToEnd(&segment_.getBody().front());
    Op op = Op::create(b_, loc_, std::forward<Args>(args)...);
    if (source_)
      op->setAttr("source", source_);
    sources_[op] = {sourceOp_, result_};
    return op;
  }
  mlir::OpBuilder &builder() { return b_; }
  // The op of the step that an instruction implements; null for the step's results.
  mlir::Operation *sourceOf(mlir::Operation *instruction) const {
    return sources_.lookup(instruction).op;
  }
  // The number of the step's result that an instruction returns; -1: of none.
  int resultOf(mlir::Operation *instruction) const { return sources_.lookup(instruction).result; }
  // The bytes that an instruction added by copy() reads; 0 for other ones.
  int64_t copiedBytes(mlir::Operation *instruction) const { return copies_.lookup(instruction); }

private:
  program::KernelOp kernelFor(mlir::Operation *op, int64_t buffers, mlir::ArrayAttr operands,
                              mlir::ArrayAttr results);
  std::string nameOf(mlir::Operation *op);

  mlir::ModuleOp module_;
  ProgramTables &tables_;
  int64_t sharedTensors_ = 0; // the first tensors of the module
  mlir::OpBuilder b_;
  mlir::Location loc_;
  mlir::StringAttr source_; // the name of sourceOp_
  mlir::Operation *sourceOp_ = nullptr;
  int result_ = -1;
  struct Source {
    mlir::Operation *op = nullptr;
    int result = -1;
  };
  llvm::DenseMap<mlir::Operation *, Source> sources_; // per instruction
  llvm::DenseMap<mlir::Operation *, int64_t> copies_; // per instruction that copies, the bytes
  program::ProgramOp program_;
  program::SegmentOp segment_;
  mlir::Operation *lastBuffer_ = nullptr;
};

} // namespace cleave::bufferize
