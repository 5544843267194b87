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

cost::Strided View::strided() const {
  return {{shape.begin(), shape.end()}, {strides.begin(), strides.end()}};
}

std::optional<View> View::reshaped(ArrayRef<int64_t> to) const {
  if (size() == 0)
    return View{buffer, offset, SmallVector<int64_t>(to), dense(buffer, to).strides};
  auto strides = cost::reshapedStrides(strided(), {to.data(), to.size()});
  if (!strides)
    return std::nullopt;
  return View{buffer, offset, SmallVector<int64_t>(to), SmallVector<int64_t>(ArrayRef(*strides))};
}

program::ViewAttr View::attribute(int64_t position) const {
  return program::ViewAttr::get(buffer.getContext(), position, offset, strides);
}

} // namespace cleave::bufferize
