// Value: what a name of a PyTorch program stands for while it is imported: a tensor handle, a number
// (integers as polynomials of the model's symbols), a string, a list. Handles have PyTorch's
// aliasing: a view shares its base's storage, and what is written through one is seen through all.
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
  int64_t version = 0;      // how often it was written
  bool isState = false;     // a buffer of the model, whose last contents outlive the step
  bool isParameter = false; // one of the model, which nothing may write
  std::string name;         // the user's, of a parameter or buffer
  // Shared by those that may be the same memory, as copies are that PyTorch perhaps makes as views:
  // whether one of them was written. That one leaves the others.
  std::shared_ptr<bool> isTorn;
};

// How far apart in PyTorch's memory the neighbours of each dim lie, in elements; none if that is not known.
using Strides = std::optional<std::vector<Polynomial>>;

// How a view depends on its base.
struct ViewStep {
  // The view's elements, from the base's.
  std::function<mlir::Value(emit::Emitter &, mlir::Value base)> read;
  // The base's elements after `part` was written to the view; null: the view is read-only.
  std::function<mlir::Value(emit::Emitter &, mlir::Value base, mlir::Value part)> write;
};

class TensorState;
using TensorRef = std::shared_ptr<TensorState>;

class TensorState {
public:
  // A tensor of its own, with new storage.
  static TensorRef create(mlir::Value contents);
  // A 0-dim int64 tensor whose element is known as a polynomial; built when it is first read.
  static TensorRef ofNumber(Polynomial number);
  // A python number in a tensor of no dims, which counts as such where types meet.
  static TensorRef ofPythonNumber(mlir::Value contents);
  // A view; `elements` are what it shows now. Fails on chains of views beyond a limit.
  static TensorRef viewOf(TensorRef base, mlir::Value elements, ViewStep step, Strides strides);

  // The elements at this point of the program; what the views between need is built with `emitter`.
  mlir::Value read(emit::Emitter &emitter);
  // New elements, of the same type and shape. Fails where a view on the way cannot be written, and on parameters.
  // What is not recorded (no_grad) changes the elements, but neither their gradient nor what it flows to.
  void write(emit::Emitter &emitter, mlir::Value elements, bool isRecorded = true);

  // The element, where it is known without building anything.
  const std::optional<Polynomial> &number() const { return number_; }
  // Null for a number that was never read.
  const std::shared_ptr<Storage> &storage() const { return storage_; }
  bool isPythonNumber() const { return isPythonNumber_; }
  bool isView() const { return base_ != nullptr; }
  // Where PyTorch has the elements: that decides whether reshaping makes a view or a copy.
  Strides strides(emit::Emitter &emitter);
  // Whether they lie one after the other as the shape says; none if it is not known.
  std::optional<bool> isDense(emit::Emitter &emitter);
  // Of a new tensor: PyTorch may have chosen any order for the elements.
  void forgetStrides() { strides_.reset(), hasPlainStrides_ = false; }
  // Of a new tensor: PyTorch perhaps has it in the memory of `other`, which was read: after a write to
  // one, reading the other fails.
  void mayShareWith(TensorState &other);

private:
  std::shared_ptr<Storage> storage_;
  TensorRef base_; // null: the storage itself
  ViewStep step_;
  Strides strides_;             // unless they are those of the shape
  bool hasPlainStrides_ = true; // the shape's
  bool isPythonNumber_ = false;
  int depth_ = 0;        // views between this one and the storage
  mlir::Value elements_; // of a view, at version_
  int64_t version_ = 0;
  std::optional<Polynomial> number_;
};

// The strides of a tensor whose elements lie in the order of the shape.
std::vector<Polynomial> plainStrides(llvm::ArrayRef<Polynomial> shape);
// The strides under which the elements of a view show another shape; none if only a copy can.
Strides reshapedStrides(llvm::ArrayRef<Polynomial> shape, llvm::ArrayRef<Polynomial> strides,
                        llvm::ArrayRef<Polynomial> to);

class Value;

// Lists are shared like Python's: appending to one is seen through every name of it.
struct ListState {
  std::vector<Value> items;
  bool isTuple = false;
};
using ListRef = std::shared_ptr<ListState>;

// Anything that only a frontend understands: a module, a dictionary, a function.
struct Object {
  virtual ~Object() = default;
};
using ObjectRef = std::shared_ptr<Object>;

class Value {
public:
  Value(); // None
  Value(const Value &);
  Value(Value &&) noexcept;
  Value &operator=(const Value &);
  Value &operator=(Value &&) noexcept;
  ~Value();
  Value(TensorRef tensor) : data_(std::move(tensor)) {}
  Value(Polynomial number) : data_(std::move(number)) {}
  Value(int64_t number) : data_(Polynomial(number)) {}
  Value(double number) : data_(number) {}
  Value(bool truth) : data_(truth) {}
  Value(std::string text) : data_(std::move(text)) {}
  Value(const char *text) : data_(std::string(text)) {}
  Value(ListRef list) : data_(std::move(list)) {}
  Value(ObjectRef object) : data_(std::move(object)) {}
  static Value list(std::vector<Value> items, bool isTuple = false);

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
  bool truth() const { return as<bool>("a truth value"); }
  const std::string &text() const { return as<std::string>("a string"); }
  const ListRef &listRef() const { return as<ListRef>("a list"); }
  const std::vector<Value> &items() const { return listRef()->items; }
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

using ValueList = std::vector<Value>;

} // namespace cleave::aten
