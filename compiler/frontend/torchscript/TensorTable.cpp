// See TensorTable.h.
#include "compiler/frontend/torchscript/TensorTable.h"

#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/step/OptionNames.h"
#include "compiler/frontend/torch/Quantized.h"

namespace cleave::torchscript {

using emit::fail;
using frontend::Remark;
using torch::StridedTensor;

TensorTable::Window TensorTable::windowOf(const StridedTensor &tensor) {
  return {tensor.entry, tensor.elementName, tensor.offset, tensor.dims, tensor.strides};
}

size_t TensorTable::add(Stored::Kind kind, const std::string &name, const StridedTensor &tensor) {
  if (torch::isQuantizedElement(tensor.elementName))
    torch::failOnQuantized("'" + name + "' is a tensor of " + tensor.elementName);
  Window window = windowOf(tensor);
  byWindow_.try_emplace(window, tensors_.size());
  if (!untied_.contains(name))
    shared_.try_emplace(std::move(window), tensors_.size());
  tensors_.push_back({kind, name, tensor});
  return tensors_.size() - 1;
}

void TensorTable::addNamed(Stored::Kind kind, const std::string &name,
                           const StridedTensor &tensor) {
  if (auto same = shared_.find(windowOf(tensor)); same != shared_.end()) {
    byName_[name] = same->second;
    if (kind == Stored::Kind::Parameter)
      remarks_.push_back({Remark::Kind::Tied, tensors_[same->second].name,
                          concat("'", name, "' is the same tensor in the file: one parameter")});
    return;
  }
  byName_[name] = add(kind, name, tensor);
}

size_t TensorTable::addConstant(const std::string &name, const StridedTensor &tensor) {
  return add(Stored::Kind::Constant, name, tensor);
}

void TensorTable::tie(const frontend::ImportOptions &options) {
  std::set<std::string> names;
  for (const auto &[name, index] : byName_)
    names.insert(name);
  frontend::checkTieNames(options, names);
  for (const auto &[name, other] : options.tie) {
    const StridedTensor &a = tensors_[byName_[name]].tensor, &b = tensors_[byName_[other]].tensor;
    if (a.dims != b.dims || a.element != b.element)
      fail("--tie ", name, "=", other, ": the two have different shapes or types");
    byName_[name] = byName_[other];
    remarks_.push_back(
        {Remark::Kind::Tied, other, concat("'", name, "' is tied to it as asked for")});
  }
}

std::vector<std::pair<std::string, std::string>> TensorTable::otherNames() const {
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto &[name, index] : byName_)
    if (tensors_[index].kind == Stored::Kind::Parameter && tensors_[index].name != name)
      names.emplace_back(name, tensors_[index].name);
  return names;
}

void TensorTable::makeParameter(size_t index) {
  tensors_[index].kind = Stored::Kind::Parameter;
  tensors_[index].tensor.requiresGrad = true;
}

std::optional<size_t> TensorTable::named(const std::string &name) const {
  auto found = byName_.find(name);
  return found == byName_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<size_t> TensorTable::sameAs(const StridedTensor &tensor) const {
  auto found = byWindow_.find(windowOf(tensor));
  return found == byWindow_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Remark> overlaps(const std::vector<Stored> &tensors) {
  std::vector<Remark> remarks;
  std::map<std::pair<std::string, int64_t>, const Stored *> byPlace;
  for (const Stored &stored : tensors)
    if (stored.kind == Stored::Kind::Parameter && stored.tensor.elementCount() > 0)
      byPlace[{stored.tensor.entry, stored.tensor.offset}] = &stored;
  const Stored *before = nullptr;
  for (const auto &[place, stored] : byPlace) {
    if (before && before->tensor.mayOverlap(stored->tensor))
      remarks.push_back(
          {Remark::Kind::TrainingWarning, stored->name,
           concat("shares memory with '", before->name, "', but is trained apart from it")});
    before = stored;
  }
  return remarks;
}

} // namespace cleave::torchscript
