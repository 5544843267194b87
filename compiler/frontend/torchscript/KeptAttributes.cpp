// See KeptAttributes.h.
#include "compiler/frontend/torchscript/KeptAttributes.h"

#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/torchscript/ObjectBuilder.h"

#include <set>

namespace cleave::torchscript {
namespace {

// A value that is to be visited.
struct Open {
  std::string path;
  IValue value;
  bool isRead;
};

std::vector<Open> itemsOf(const Open &open) {
  std::vector<Open> items;
  auto add = [&](const std::string &path, const IValue &value, bool isRead) {
    items.push_back({path, value, isRead});
  };
  if (open.value.isList())
    for (const IValue &item : open.value.items())
      add(attributePath(open.path, std::to_string(items.size())), item, open.isRead);
  else if (DictionaryRef dictionary = dictionaryOf(open.value))
    for (const auto &[key, value] : dictionary->items)
      add(attributePath(open.path, stringOf(key)), value, open.isRead);
  else if (InstanceRef instance = instanceOf(open.value))
    for (const auto &[name, value] : instance->attributes)
      add(attributePath(instance->path, name), value, instance->readFirst.contains(name));
  return items;
}

} // namespace

KeptAttributes::Leaves KeptAttributes::leavesOf(const Instance &model) {
  Leaves leaves;
  std::set<const void *> visited; // lists and objects
  std::vector<Open> open;
  for (const auto &[name, value] : model.attributes)
    open.push_back({name, value, model.readFirst.contains(name)});
  while (!open.empty()) {
    Open next = std::move(open.back());
    open.pop_back();
    const void *container = next.value.isList() ? next.value.listRef().get()
                            : next.value.isObject()
                                ? static_cast<const void *>(next.value.object().get())
                                : nullptr;
    if (container && !visited.insert(container).second)
      continue;
    std::vector<Open> items = itemsOf(next);
    if (next.value.isList() || dictionaryOf(next.value))
      next.value = IValue(static_cast<int64_t>(items.size()));
    if (!instanceOf(next.value))
      leaves[next.path] = {next.value, next.isRead};
    open.insert(open.end(), items.begin(), items.end());
  }
  return leaves;
}

void KeptAttributes::visitTensors(
    const std::function<void(const std::string &path, const aten::TensorRef &)> &visit) const {
  Leaves after = leavesOf(model_);
  for (const auto &[path, leaf] : after) {
    auto before = before_.find(path);
    if (before == before_.end()) // of a container that changed, or that the program made
      continue;
    const IValue &first = before->second.value;
    if (first.isTensor() && leaf.value.isTensor())
      visit(path, leaf.value.tensor());
    else if (leaf.isRead && !isEqual(first, leaf.value))
      emit::fail("the program changes the attribute '", path, "' (", first.kindName(), ", then ",
                 leaf.value.kindName(),
                 ") and reads it in the next step, but only tensors that keep their shapes are "
                 "kept between steps; make it a buffer (register_buffer)");
  }
}

} // namespace cleave::torchscript
