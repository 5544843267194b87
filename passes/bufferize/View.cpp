// Arithmetic of shapes and strides.
#include "passes/bufferize/View.h"

#include "mlir/IR/Value.h"

using namespace mlir;

namespace cleave::bufferize {

View View::dense(Value buffer, ArrayRef<int64_t> shape) {
  return {buffer, 0, SmallVector<int64_t>(shape), program::denseStrides(shape)};
}

int64_t View::size() const {
  int64_t size = 1;
  for (int64_t dim : shape)
    size *= dim;
  return size;
}

bool View::isDense() const {
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected)
      return false;
    expected *= shape[i];
  }
  return true;
}

bool View::isSamePlace(const View &other) const {
  if (buffer != other.buffer || offset != other.offset || shape != other.shape)
    return false;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1 && strides[i] != other.strides[i])
      return false;
  return true;
}

View View::transposed(ArrayRef<int64_t> permutation) const {
  View view{buffer, offset, {}, {}};
  for (int64_t dim : permutation) {
    view.shape.push_back(shape[dim]);
    view.strides.push_back(strides[dim]);
  }
  return view;
}

View View::sliced(int64_t dim, int64_t start, int64_t step, int64_t count) const {
  View view = *this;
  view.offset += start * strides[dim];
  view.strides[dim] *= step;
  view.shape[dim] = count;
  return view;
}

View View::split(int64_t dim, int64_t minor) const {
  View view = *this;
  view.shape[dim] /= minor;
  view.strides[dim] *= minor;
  view.shape.insert(view.shape.begin() + dim + 1, minor);
  view.strides.insert(view.strides.begin() + dim + 1, strides[dim]);
  return view;
}

// Merges the old dims to runs of one stride, then splits the runs into the new dims, last dims
// first.
std::optional<View> View::reshaped(ArrayRef<int64_t> to) const {
  if (size() == 0)
    return View{buffer, offset, SmallVector<int64_t>(to), dense(buffer, to).strides};
  SmallVector<int64_t> sizes, steps; // of the runs
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1)
      continue;
    if (!sizes.empty() && steps.back() == strides[i] * shape[i]) {
      sizes.back() *= shape[i];
      steps.back() = strides[i];
    } else {
      sizes.push_back(shape[i]);
      steps.push_back(strides[i]);
    }
  }
  View view{buffer, offset, SmallVector<int64_t>(to), SmallVector<int64_t>(to.size(), 1)};
  int64_t left = 1, step = 1; // of the run in hand: elements not yet used up, and their stride
  for (size_t i = to.size(); i-- > 0;) {
    if (to[i] == 1)
      continue;
    if (left == 1) {
      if (sizes.empty())
        return std::nullopt;
      left = sizes.pop_back_val();
      step = steps.pop_back_val();
    }
    if (left % to[i] != 0)
      return std::nullopt;
    view.strides[i] = step;
    left /= to[i];
    step *= to[i];
  }
  return view;
}

program::ViewAttr View::attribute(int64_t position) const {
  return program::ViewAttr::get(buffer.getContext(), position, offset, strides);
}

} // namespace cleave::bufferize
