// Sizes, Ints: sizes of dims and plain numbers as operators read them. An index past the end is the
// user's mistake (an operand with too few dims, an attribute with too few numbers), so every access
// checks it and fails with the list.
#pragma once

#include "compiler/frontend/emit/Failure.h"
#include "dialects/graph/Types.h"

#include <cstdint>
#include <vector>

namespace cleave::emit {

// A vector whose accesses by position check that the element exists, else throw a Failure. Converts
// from and to std::vector; the conversion to a reference does not copy.
template <typename T> class CheckedList {
public:
  // The member types and constructors of std::vector.
  using value_type = T;
  using iterator = typename std::vector<T>::iterator;
  using const_iterator = typename std::vector<T>::const_iterator;
  CheckedList() = default;
  CheckedList(std::vector<T> elements) : elements_(std::move(elements)) {}
  CheckedList(std::initializer_list<T> elements) : elements_(elements) {}
  explicit CheckedList(size_t count, const T &element = T()) : elements_(count, element) {}
  template <std::input_iterator It> CheckedList(It first, It last) : elements_(first, last) {}
  operator const std::vector<T> &() const { return elements_; }

  // -- checked
  T &operator[](size_t index) { return check(index), elements_[index]; }
  const T &operator[](size_t index) const { return check(index), elements_[index]; }
  T &front() { return check(0), elements_.front(); }
  const T &front() const { return check(0), elements_.front(); }
  T &back() { return check(0), elements_.back(); }
  const T &back() const { return check(0), elements_.back(); }
  void pop_back() { check(0), elements_.pop_back(); }
  // The first `count` elements; the elements after them.
  llvm::ArrayRef<T> takeFront(size_t count) const { return cut(count).take_front(count); }
  llvm::ArrayRef<T> dropFront(size_t count) const { return cut(count).drop_front(count); }

  // -- as of std::vector
  size_t size() const { return elements_.size(); }
  bool empty() const { return elements_.empty(); }
  T *data() { return elements_.data(); }
  const T *data() const { return elements_.data(); }
  auto rbegin() const { return elements_.rbegin(); }
  auto rend() const { return elements_.rend(); }
  iterator begin() { return elements_.begin(); }
  iterator end() { return elements_.end(); }
  const_iterator begin() const { return elements_.begin(); }
  const_iterator end() const { return elements_.end(); }
  void push_back(T element) { elements_.push_back(std::move(element)); }
  template <typename... Args> iterator insert(const_iterator at, Args &&...args) {
    return elements_.insert(at, std::forward<Args>(args)...);
  }
  iterator insert(const_iterator at, std::initializer_list<T> elements) {
    return elements_.insert(at, elements);
  }
  iterator erase(const_iterator at) { return elements_.erase(at); }
  iterator erase(const_iterator first, const_iterator last) { return elements_.erase(first, last); }
  void resize(size_t size, const T &element = T()) { elements_.resize(size, element); }
  template <typename... Args> void assign(Args &&...args) {
    elements_.assign(std::forward<Args>(args)...);
  }
  void clear() { elements_.clear(); }

  friend bool operator==(const CheckedList &a, const CheckedList &b) {
    return a.elements_ == b.elements_;
  }

private:
  void check(size_t index) const {
    if (index >= size()) // an index counted from the end wraps around below 0
      failShort(index < SIZE_MAX / 2 ? index + 1 : size() - index);
  }
  llvm::ArrayRef<T> cut(size_t count) const {
    if (count > 0)
      check(count - 1);
    return elements_;
  }
  [[noreturn]] void failShort(size_t expected) const;

  std::vector<T> elements_;
};

// The sizes of a tensor's dims.
using Sizes = CheckedList<Polynomial>;
inline Sizes shapeOf(mlir::Value value) { return graph::shapeOf(value); }
inline Sizes shapeOf(mlir::Type type) { return graph::shapeOf(type); }
// Axes, permutations, strides and other numbers without symbols.
using Ints = CheckedList<int64_t>;

// Their messages.
template <> [[noreturn]] void Sizes::failShort(size_t expected) const;
template <> [[noreturn]] void Ints::failShort(size_t expected) const;

} // namespace cleave::emit
