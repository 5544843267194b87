// See KnownInput.h.
#include "compiler/frontend/step/KnownInput.h"

#include "compiler/frontend/emit/Emitter.h"

#include <algorithm>

namespace cleave::frontend {

Tensor knownInput(const std::string &name, ElementType type,
                  const std::vector<std::optional<int64_t>> &dims,
                  const std::vector<double> &values) {
  std::vector<int64_t> sizes;
  std::optional<size_t> open;
  int64_t count = 1;
  auto found = static_cast<int64_t>(values.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!dims[i] && open)
      emit::fail("--value ", name, "=…: two of its dims have no size; give --set, too");
    if (!dims[i])
      open = i;
    sizes.push_back(dims[i].value_or(1));
    if (__builtin_mul_overflow(count, sizes.back(), &count))
      count = -1;
  }
  if (open && count > 0 && found % count == 0)
    count *= sizes[*open] = found / count;
  if (count != found)
    emit::fail("--value ", name, "=… has ", found, " elements, but the input is ",
               emit::showInts(emit::Ints(sizes.begin(), sizes.end())));
  Tensor tensor(type, sizes);
  constexpr double most = 4611686018427387904.0; // 2^62
  for (int64_t i = 0; i < found; ++i)
    tensor.set(i, isFloat(type) ? values[i] : std::clamp(values[i], -most, most));
  return tensor;
}

} // namespace cleave::frontend
