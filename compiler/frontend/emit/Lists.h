// Shape, Ints: dims and plain numbers as operators read them. An index past the end is the user's mistake, an operand with
// fewer dims or an attribute with fewer numbers than the operator means: it fails with what there is.
#pragma once

#include "compiler/frontend/emit/Failure.h"
#include "dialects/graph/Types.h"

#include <cstdint>
#include <vector>

namespace cleave::emit {

template <typename T> class CheckedList : public std::vector<T> {
public:
  using std::vector<T>::vector;
  CheckedList(std::vector<T> elements) : std::vector<T>(std::move(elements)) {}

  T &operator[](size_t index) { return check(index), std::vector<T>::operator[](index); }
  const T &operator[](size_t index) const {
    return check(index), std::vector<T>::operator[](index);
  }
  T &front() { return (*this)[0]; }
  const T &front() const { return (*this)[0]; }
  T &back() { return check(0), std::vector<T>::back(); }
  const T &back() const { return check(0), std::vector<T>::back(); }
  void pop_back() { check(0), std::vector<T>::pop_back(); }
  // The first `count`; what comes after them.
  llvm::ArrayRef<T> takeFront(size_t count) const { return cut(count).take_front(count); }
  llvm::ArrayRef<T> dropFront(size_t count) const { return cut(count).drop_front(count); }

private:
  void check(size_t index) const {
    if (index >= this->size()) // below 0 where it was counted from the end
      failShort(index < SIZE_MAX / 2 ? index + 1 : this->size() - index);
  }
  llvm::ArrayRef<T> cut(size_t count) const {
    if (count > 0)
      check(count - 1);
    return llvm::ArrayRef<T>(this->data(), this->size());
  }
  [[noreturn]] void failShort(size_t expected) const;
};

// The dims of a tensor.
using Shape = CheckedList<Polynomial>;
inline Shape shapeOf(mlir::Value value) { return graph::shapeOf(value); }
inline Shape shapeOf(mlir::Type type) { return graph::shapeOf(type); }
// Axes, permutations, strides and other numbers that no symbol changes.
using Ints = CheckedList<int64_t>;

template <> [[noreturn]] void Shape::failShort(size_t expected) const;
template <> [[noreturn]] void Ints::failShort(size_t expected) const;

} // namespace cleave::emit
