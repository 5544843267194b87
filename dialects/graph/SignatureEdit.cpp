// See SignatureEdit.h.
#include "dialects/graph/SignatureEdit.h"

using namespace mlir;

namespace cleave::graph {

void eraseResults(func::FuncOp step, const llvm::BitVector &erased) {
  step.getBody().front().getTerminator()->eraseOperands(erased);
  (void)step.eraseResults(erased);
}

void eraseArguments(func::FuncOp step, const llvm::BitVector &erased) {
  if (erased.none())
    return;
  SmallVector<int64_t> numbers; // new number by old number
  for (unsigned i = 0, next = 0; i < erased.size(); ++i)
    numbers.push_back(erased[i] ? -1 : next++);
  (void)step.eraseArguments(erased);
  Builder b(step.getContext());
  SmallVector<DictionaryAttr> results;
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    NamedAttrList attrs(step.getResultAttrDict(i));
    if (std::optional<unsigned> alias = aliasOf(step, i))
      attrs.set("graph.alias", b.getI64IntegerAttr(numbers[*alias]));
    results.push_back(attrs.getDictionary(step.getContext()));
  }
  step.setAllResultAttrs(results);
}

BlockArgument SignatureEdit::addArgument(Type type, StringRef name, Role role, Attribute source) {
  Builder b(step_.getContext());
  NamedAttrList &attrs = newArguments_.emplace_back();
  attrs.set("graph.name", b.getStringAttr(name));
  attrs.set("graph.role", toAttribute(role, step_.getContext()));
  if (source)
    attrs.set("graph.source", source);
  return step_.getBody().front().addArgument(type, step_.getLoc());
}

void SignatureEdit::addResult(Value value, StringRef name, Role role,
                              std::optional<unsigned> alias) {
  Builder b(step_.getContext());
  NamedAttrList &attrs = newResults_.emplace_back();
  attrs.set("graph.name", b.getStringAttr(name));
  attrs.set("graph.role", toAttribute(role, step_.getContext()));
  if (alias)
    attrs.set("graph.alias", b.getI64IntegerAttr(*alias));
  Operation *terminator = step_.getBody().front().getTerminator();
  terminator->insertOperands(terminator->getNumOperands(), value);
}

void SignatureEdit::setRole(unsigned i, Role role) {
  setArgAttr(i, "graph.role", toAttribute(role, context()));
}

void SignatureEdit::setArgAttr(unsigned i, StringRef name, Attribute value) {
  unsigned known = step_.getNumArguments();
  if (i >= known) {
    newArguments_[i - known].set(name, value);
    return;
  }
  auto [entry, isNew] = changed_.try_emplace(i);
  if (isNew)
    entry->second = NamedAttrList(step_.getArgAttrDict(i));
  entry->second.set(name, value);
}

void SignatureEdit::setResultAttr(unsigned i, StringRef name, Attribute value) {
  newResults_[i - step_.getNumResults()].set(name, value);
}

Attribute SignatureEdit::argAttr(unsigned i, StringRef name) const {
  func::FuncOp step = step_; // an op is a handle without const methods
  unsigned known = step.getNumArguments();
  if (i >= known)
    return newArguments_[i - known].get(name);
  auto change = changed_.find(i);
  return change == changed_.end() ? step.getArgAttr(i, name) : change->second.get(name);
}

void SignatureEdit::commit() {
  MLIRContext *context = step_.getContext();
  SmallVector<DictionaryAttr> arguments, results;
  for (unsigned i = 0, count = step_.getNumArguments(); i < count; ++i) {
    auto change = changed_.find(i);
    arguments.push_back(change == changed_.end() ? step_.getArgAttrDict(i)
                                                 : change->second.getDictionary(context));
  }
  for (const NamedAttrList &attrs : newArguments_)
    arguments.push_back(attrs.getDictionary(context));
  for (unsigned i = 0, count = step_.getNumResults(); i < count; ++i)
    results.push_back(step_.getResultAttrDict(i));
  for (const NamedAttrList &attrs : newResults_)
    results.push_back(attrs.getDictionary(context));
  Block &body = step_.getBody().front();
  step_.setFunctionType(
      FunctionType::get(context, body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  step_.setAllArgAttrs(arguments);
  step_.setAllResultAttrs(results);
  newArguments_.clear();
  newResults_.clear();
  changed_.clear();
}

} // namespace cleave::graph
