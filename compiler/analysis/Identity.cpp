// Values are numbered in the order in which they are met.
#include "compiler/analysis/Identity.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace cleave::analysis {

namespace {

class IdentityWriter {
public:
  void add(Operation *op) {
    addHead(op);
    for (Value operand : op->getOperands())
      add(operand);
    addResultsAndRegions(op);
  }
  void addAlone(Operation *op) {
    addHead(op);
    for (Type type : op->getOperandTypes())
      add(type.getAsOpaquePointer());
    addResultsAndRegions(op);
  }
  std::string take() { return std::move(text_); }

private:
  void add(const void *address) {
    text_.append(reinterpret_cast<const char *>(&address), sizeof(address));
  }
  void add(size_t number) { text_.append(reinterpret_cast<const char *>(&number), sizeof(number)); }
  void add(Value value) {
    auto [entry, isNew] = numbers_.try_emplace(value, numbers_.size());
    add(entry->second);
    if (isNew)
      add(value.getType().getAsOpaquePointer());
  }
  void addHead(Operation *op) {
    add(op->getName().getAsOpaquePointer());
    add(op->getAttrDictionary().getAsOpaquePointer());
    add(static_cast<size_t>(op->getNumOperands()));
  }
  void addResultsAndRegions(Operation *op) {
    add(static_cast<size_t>(op->getNumResults()));
    for (Value result : op->getResults())
      add(result);
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        add(static_cast<size_t>(block.getNumArguments()));
        for (Value argument : block.getArguments())
          add(argument);
        add(block.getOperations().size());
        for (Operation &inner : block)
          add(&inner);
      }
  }

  std::string text_;
  llvm::DenseMap<Value, size_t> numbers_;
};

} // namespace

std::string identityOf(llvm::ArrayRef<Operation *> ops) {
  IdentityWriter writer;
  for (Operation *op : ops)
    writer.add(op);
  return writer.take();
}

std::string identityOf(Operation *op) {
  IdentityWriter writer;
  writer.addAlone(op);
  return writer.take();
}

} // namespace cleave::analysis
