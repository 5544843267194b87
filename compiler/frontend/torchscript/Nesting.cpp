// See Nesting.h.
#include "compiler/frontend/torchscript/Nesting.h"

#include "compiler/frontend/emit/Failure.h"

#include <algorithm>
#include <unordered_map>

namespace cleave::torchscript {
namespace {

constexpr int kMaxHeight = 200;

// Work per level of nesting when a container joins another, which may be nested itself. It bounds
// the depth of the recursion of destructors.
constexpr int64_t kLevelWork = 256;

// The identity of a container; null for other values.
const void *identityOf(const IValue &value) {
  return value.isList()     ? static_cast<const void *>(value.listRef().get())
         : value.isObject() ? static_cast<const void *>(value.object().get())
                            : nullptr;
}

// The containers directly in this one.
std::vector<const IValue *> containersIn(const IValue &value) {
  std::vector<const IValue *> out;
  auto add = [&](const IValue &inside) {
    if (inside.isList() || inside.isObject())
      out.push_back(&inside);
  };
  if (value.isList())
    std::for_each(value.items().begin(), value.items().end(), add);
  else if (DictionaryRef dictionary = dictionaryOf(value))
    for (const auto &[key, item] : dictionary->items)
      add(key), add(item);
  else if (InstanceRef instance = instanceOf(value))
    for (const auto &[name, attribute] : instance->attributes)
      add(attribute);
  return out;
}

struct Visit {
  const void *identity;
  std::vector<const IValue *> inside;
  size_t next = 0;
  int height = 1;
};

} // namespace

int64_t checkNesting(const IValue &value, const IValue *around) {
  const void *target = around ? identityOf(*around) : nullptr;
  std::unordered_map<const void *, int> heights; // only looked up
  std::vector<Visit> stack;
  int64_t seen = 0; // items
  auto enter = [&](const IValue &container) {
    const void *identity = identityOf(container);
    if (identity && identity == target)
      emit::fail("puts a container into itself");
    stack.push_back({identity, containersIn(container)});
    DictionaryRef dictionary = dictionaryOf(container);
    seen += static_cast<int64_t>(container.isList() ? container.items().size()
                                 : dictionary       ? dictionary->items.size()
                                                    : 0);
    if (stack.size() > kMaxHeight)
      emit::fail("nests containers more than ", kMaxHeight, " deep");
  };
  if (identityOf(value))
    enter(value);
  while (!stack.empty()) {
    Visit &visit = stack.back();
    if (visit.next < visit.inside.size()) {
      const IValue &inside = *visit.inside[visit.next++];
      auto known = heights.find(identityOf(inside));
      if (known == heights.end()) {
        --visit.next; // visit it again when the height is known
        enter(inside);
      } else {
        visit.height = std::max(visit.height, known->second + 1);
      }
      continue;
    }
    heights[visit.identity] = visit.height;
    if (visit.height > kMaxHeight)
      emit::fail("nests containers more than ", kMaxHeight, " deep");
    stack.pop_back();
  }
  int64_t levels = target && identityOf(value) ? heights[identityOf(value)] : 0;
  return static_cast<int64_t>(heights.size()) + seen / 16 + levels * kLevelWork;
}

} // namespace cleave::torchscript
