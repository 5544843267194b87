// IValue: a value of a PyTorch program during import (PyTorch's term): a tensor handle, a number
// (integers are polynomials of the model's symbols), a string, a list. Handles alias as in PyTorch:
// a view shares the storage of its base, and a write through one handle is visible through all.
#pragma once

#include "dialects/interfaces/Polynomial.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace cleave::emit {
class Emitter;
}

namespace cleave::aten {

// The memory behind tensors: its contents at this point of the program.
struct Storage {
  mlir::Value contents;
  int64_t version = 0;    // number of writes
  bool isBuffer = false;  // a buffer of the model
  bool isTrained = false; // a parameter that gets a gradient, which the program must not write
  std::string name;       // of a parameter or buffer
  // Shared by storages that may be one in PyTorch, such as those of copies that PyTorch may make as
  // views: whether one of them was written.
  std::shared_ptr<bool> isTorn;
};

// PyTorch's strides of a tensor, in elements; none if unknown.
using Strides = std::optional<std::vector<Polynomial>>;

// The map between a view and its base.
struct ViewStep {
  // Computes the view's elements from the base's.
  std::function<mlir::Value(emit::Emitter &, mlir::Value base)> read;
  // Computes the base's elements after a write of `part` to the view; null: the view is read-only.
  std::function<mlir::Value(emit::Emitter &, mlir::Value base, mlir::Value part)> write;
};

// A handle on a tensor. Handles are shared, as Python's references are.
class TensorState;
using TensorRef = std::shared_ptr<TensorState>;

// A tensor of the program: storage and, for views, the path to it.
class TensorState {
public:
  // A tensor with new storage.
  static TensorRef create(mlir::Value contents);
  // A 0-dim int64 tensor with a known element; its op is built at the first read.
  static TensorRef ofNumber(Polynomial number);
  // A Python number as a 0-dim tensor; type promotion treats it as a number.
  static TensorRef ofPythonNumber(mlir::Value contents);
  // A view with the current `elements`. Fails on chains of more than 1000 views.
  static TensorRef viewOf(TensorRef base, mlir::Value elements, ViewStep step, Strides strides);

  // A view without a gradient; writes to it do not change the gradient of the base.
  static TensorRef detached(emit::Emitter &emitter, const TensorRef &base);

  // The elements at this point of the program. Builds the ops of views with `emitter`.
  mlir::Value read(emit::Emitter &emitter);
  // Writes elements of the same type and shape. Fails on trained parameters and read-only views. A
  // write that is not recorded (no_grad) changes the elements but not their gradient.
  void write(emit::Emitter &emitter, mlir::Value elements, bool isRecorded = true);

  // The element of a tensor made by ofNumber() that was not written.
  const std::optional<Polynomial> &number() const { return number_; }
  // Null for a number that was not read.
  const std::shared_ptr<Storage> &storage() const { return storage_; }
  bool isPythonNumber() const { return isPythonNumber_; }
  // Makes type promotion treat a new tensor as a number.
  void becomePythonNumber() { isPythonNumber_ = true; }
  bool isView() const { return base_ != nullptr; }
  // The tensor that has the whole storage: that of which `tensor` is a view, or itself.
  static TensorRef wholeOf(TensorRef tensor);
  // PyTorch's strides, which decide whether reshaping makes a view or a copy.
  Strides strides(emit::Emitter &emitter);
  // Whether the elements are contiguous in row-major order; none if unknown.
  std::optional<bool> isDense(emit::Emitter &emitter);
  // Sets the strides of a new tensor.
  void setStrides(std::vector<Polynomial> strides) {
    strides_ = std::move(strides), hasPlainStrides_ = false;
  }
  // Makes the strides of a new tensor unknown.
  void forgetStrides() { strides_.reset(), hasPlainStrides_ = false; }
  // Notes that PyTorch may have this new tensor in the memory of `other`, which was read: after a
  // write to one, reads of the other fail.
  void mayShareWith(TensorState &other);

private:
  std::shared_ptr<Storage> storage_;
  TensorRef base_; // null: the storage itself
  ViewStep step_;
  Strides strides_;             // unless hasPlainStrides_
  bool hasPlainStrides_ = true; // contiguous, row-major
  bool isPythonNumber_ = false;
  int depth_ = 0;        // views between this one and the storage
  mlir::Value elements_; // of a view at version_ of the storage
  int64_t version_ = 0;
  std::optional<Polynomial> number_;
};

// The strides of a contiguous row-major tensor.
std::vector<Polynomial> plainStrides(llvm::ArrayRef<Polynomial> shape);
// The strides of a view of a tensor with another shape; none if only a copy can have that shape.
Strides reshapedStrides(llvm::ArrayRef<Polynomial> shape, llvm::ArrayRef<Polynomial> strides,
                        llvm::ArrayRef<Polynomial> to);

class IValue;

// A list or tuple. Lists are shared as in Python.
struct ListState {
  std::vector<IValue> items;
  bool isTuple = false;
};
using ListRef = std::shared_ptr<ListState>;

// Base of the values that only a frontend handles: modules, dictionaries, functions.
struct Object {
  virtual ~Object() = default;
};
using ObjectRef = std::shared_ptr<Object>;

class IValue {
public:
  IValue(); // None
  IValue(const IValue &);
  IValue(IValue &&) noexcept;
  IValue &operator=(const IValue &);
  IValue &operator=(IValue &&) noexcept;
  ~IValue();
  IValue(TensorRef tensor) : data_(std::move(tensor)) {}
  IValue(Polynomial number) : data_(std::move(number)) {}
  IValue(int64_t number) : data_(Polynomial(number)) {}
  IValue(double number) : data_(number) {}
  IValue(bool boolean) : data_(boolean) {}
  IValue(std::string text) : data_(std::move(text)) {}
  IValue(const char *text) : data_(std::string(text)) {}
  IValue(ListRef list) : data_(std::move(list)) {}
  IValue(ObjectRef object) : data_(std::move(object)) {}
  // A list or tuple of these items.
  static IValue list(std::vector<IValue> items, bool isTuple = false);

  // The kind of the content.
  bool isNone() const { return is<std::monostate>(); }
  bool isTensor() const { return is<TensorRef>(); }
  bool isInt() const { return is<Polynomial>(); } // dtypes, layouts, … too, by PyTorch's numbers
  bool isFloat() const { return is<double>(); }
  bool isBool() const { return is<bool>(); }
  bool isString() const { return is<std::string>(); }
  bool isList() const { return is<ListRef>(); } // or tuple
  bool isObject() const { return is<ObjectRef>(); }

  // The content; fails if the value is of another kind.
  const TensorRef &tensor() const { return as<TensorRef>("a tensor"); }
  const Polynomial &integer() const { return as<Polynomial>("an integer"); }
  double number() const { return as<double>("a number"); }
  bool boolean() const { return as<bool>("a bool"); }
  const std::string &string() const { return as<std::string>("a string"); }
  const ListRef &listRef() const { return as<ListRef>("a list"); }
  const std::vector<IValue> &items() const { return listRef()->items; }
  const ObjectRef &object() const { return as<ObjectRef>("an object"); }

  // `tensor`, `int`, `list of 3`, … for messages.
  std::string kindName() const;

private:
  template <typename T> bool is() const { return std::holds_alternative<T>(data_); }
  template <typename T> const T &as(const char *expected) const {
    if (const T *content = std::get_if<T>(&data_))
      return *content;
    failOnKind(expected);
  }
  [[noreturn]] void failOnKind(const char *expected) const;

  std::variant<std::monostate, TensorRef, Polynomial, double, bool, std::string, ListRef, ObjectRef>
      data_;
};

// Arguments or results of an operator.
using IValueList = std::vector<IValue>;

} // namespace cleave::aten
