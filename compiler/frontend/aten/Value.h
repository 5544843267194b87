// Value: what a name of a PyTorch program stands for while it is imported: a tensor handle, a number
// (integers as polynomials of the model's symbols), a string, a list. Handles have PyTorch's
// aliasing: a view shares its base's storage, and what is written through one is seen through all.
#pragma once

#include "dialects/interfaces/Polynomial.h"

#include "mlir/IR/Value.h"

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
  int64_t version = 0;  // how often it was written
  bool isState = false; // a buffer of the model, whose last contents outlive the step
  std::string name;     // the user's, of a parameter or buffer
};

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
  // A view; `elements` are what it shows now. Fails on chains of views beyond a limit.
  static TensorRef viewOf(TensorRef base, mlir::Value elements, ViewStep step, bool isDense);

  // The elements at this point of the program; what the views between need is built with `emitter`.
  mlir::Value read(emit::Emitter &emitter);
  // New elements, of the same type and shape. Fails where a view on the way cannot be written.
  void write(emit::Emitter &emitter, mlir::Value elements);

  // The element, where it is known without building anything.
  const std::optional<Polynomial> &number() const { return number_; }
  // Null for a number that was never read.
  const std::shared_ptr<Storage> &storage() const { return storage_; }
  // Whether neighbours lie side by side in PyTorch's memory, so that reshaping makes a view.
  bool isDense() const { return isDense_; }

private:
  std::shared_ptr<Storage> storage_;
  TensorRef base_; // null: the storage itself
  ViewStep step_;
  bool isDense_ = true;
  int depth_ = 0;        // views between this one and the storage
  mlir::Value elements_; // of a view, at version_
  int64_t version_ = 0;
  std::optional<Polynomial> number_;
};

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
