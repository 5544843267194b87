// Selection: operators whose result has a size that depends on data. Shapes must be known before a
// step runs, so their operand must be known while importing.
#include "compiler/frontend/emit/Emitter.h"
#include "compiler/frontend/emit/Slicing.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace cleave::onnx {
namespace {

using namespace emit;

// The indices of all elements that are not zero, one column each.
Values importNonZero(NodeImport &n) {
  n.checkInputs(1, 1);
  Tensor x = n.tensorInput(0, "operand");
  std::vector<std::vector<int64_t>> places;
  int64_t at = 0;
  forEachIndex(x.shape, [&](const std::vector<int64_t> &index) {
    if (x.values[at++] != 0)
      places.push_back(index);
  });
  auto count = static_cast<int64_t>(places.size());
  Tensor out(ElementType::I64, {x.rank(), count});
  for (int64_t i = 0; i < count; ++i)
    for (int64_t dim = 0; dim < x.rank(); ++dim)
      out.set(dim * count + i, static_cast<double>(places[i][dim]));
  return {n.constant(out)};
}

// The slices along an axis (or elements, without an axis) for which the condition holds.
Values importCompress(NodeImport &n) {
  n.checkInputs(2, 2);
  Emitter &e = n;
  Value x = n.input(0);
  Tensor condition = n.tensorInput(1, "condition");
  int64_t axis = 0;
  if (n.hasAttribute("axis"))
    axis = n.axisAttribute(0);
  else
    x = e.reshape(x, {product(shapeOf(x))});
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < condition.size(); ++i)
    if (condition.values[i] != 0)
      kept.push_back(i);
  int64_t size = e.number(shapeOf(x)[axis], "the dim's size");
  if (condition.rank() != 1 || (!kept.empty() && kept.back() >= size))
    fail("has a condition ", showInts(condition.shape), " for a dim of size ", size);
  if (kept.empty())
    return {e.slice(x, axis, 0, 0)};
  return {n.gather(x, e.integers(kept), axis)};
}

// The distinct slices of x along one dim, in the order of their first occurrence or sorted.
struct Different {
  std::vector<int64_t> first, inverse, counts; // where each came first; of every slice; how often
};

Different differentSlices(const Tensor &x, int64_t axis, bool sorted) {
  int64_t size = x.shape[axis], inner = x.strides()[axis];
  int64_t outer = x.size() > 0 ? x.size() / (size * inner) : 0;
  auto slice = [&](int64_t i) {
    std::vector<double> elements;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t k = 0; k < inner; ++k)
        elements.push_back(x.values[(o * size + i) * inner + k]);
    return elements;
  };
  Different out;
  std::map<std::vector<double>, int64_t> known;
  for (int64_t i = 0; i < size; ++i) {
    auto [found, isNew] = known.emplace(slice(i), static_cast<int64_t>(out.first.size()));
    if (isNew) {
      out.first.push_back(i);
      out.counts.push_back(0);
    }
    out.inverse.push_back(found->second);
    ++out.counts[found->second];
  }
  if (!sorted)
    return out;
  Different ordered;
  std::vector<int64_t> place(out.first.size());
  for (const auto &[elements, number] : known) {
    place[number] = static_cast<int64_t>(ordered.first.size());
    ordered.first.push_back(out.first[number]);
    ordered.counts.push_back(out.counts[number]);
  }
  for (int64_t number : out.inverse)
    ordered.inverse.push_back(place[number]);
  return ordered;
}

Values importUnique(NodeImport &n) {
  n.checkInputs(1, 1);
  Emitter &e = n;
  Tensor x = n.tensorInput(0, "operand");
  if (x.size() == 0)
    fail("has no elements, expected at least 1");
  bool sorted = n.integer("sorted", 1);
  int64_t axis = 0;
  Value data = n.input(0);
  if (n.hasAttribute("axis")) {
    axis = n.axis(n.integer("axis", 0), x.rank());
  } else {
    x.shape = {x.size()};
    data = e.reshape(data, toShape(x.shape));
  }
  Different different = differentSlices(x, axis, sorted);
  return {n.gather(data, e.integers(different.first), axis), e.integers(different.first),
          e.integers(different.inverse), e.integers(different.counts)};
}

constexpr OpEntry kSelectionOps[] = {
    {"Compress", 9, importCompress},
    {"NonZero", 9, importNonZero},
    {"Unique", 11, importUnique},
};

} // namespace

llvm::ArrayRef<OpEntry> selectionOps() { return kSelectionOps; }

} // namespace cleave::onnx
