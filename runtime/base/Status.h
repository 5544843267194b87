// Status and Result: the errors of all parts of Cleave outside MLIR.
//
// The kind determines who has to act, and is the exit code of the command-line tools
// (docs/interface.md). The message is one sentence in lower case: what was found, what was
// expected, and a way out.
#pragma once

#include "runtime/base/Concat.h"

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace cleave {

// The kinds of results; the numbers are the exit codes of the tools.
enum class StatusKind : int {
  Ok = 0,
  UserError = 1,  // the user's mistake, or a damaged input file
  Infeasible = 2, // no plan fits the cluster
  Lost = 3,       // a rank or a device was lost while running
  Defect = 4,     // a bug of Cleave
};

class [[nodiscard]] Status {
public:
  Status() = default;
  static Status ok() { return {}; }
  // Failed statuses. The message is the concatenation of the parts (Concat.h).
  template <typename... Parts> static Status userError(const Parts &...message) {
    return {StatusKind::UserError, concat(message...)};
  }
  template <typename... Parts> static Status infeasible(const Parts &...message) {
    return {StatusKind::Infeasible, concat(message...)};
  }
  template <typename... Parts> static Status lost(const Parts &...message) {
    return {StatusKind::Lost, concat(message...)};
  }
  template <typename... Parts> static Status defect(const Parts &...message) {
    return {StatusKind::Defect, concat(message...)};
  }

  bool isOk() const { return kind_ == StatusKind::Ok; }
  explicit operator bool() const { return isOk(); }
  StatusKind kind() const { return kind_; }
  const std::string &message() const { return message_; }
  int exitCode() const { return static_cast<int>(kind_); }

  // The same status with "CONTEXT: " before the message.
  Status withContext(const std::string &context) const {
    return isOk() ? *this : Status(kind_, context + ": " + message_);
  }

private:
  Status(StatusKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
  StatusKind kind_ = StatusKind::Ok;
  std::string message_;
};

// A value, or the failed status for which there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {
    assert(!status_.isOk() && "a Result without a value needs a failed status");
  }

  bool isOk() const { return value_.has_value(); }
  explicit operator bool() const { return isOk(); }
  const Status &status() const { return status_; }
  // The same result; a failed status gets "CONTEXT: " before its message.
  Result withContext(const std::string &context) && {
    return isOk() ? std::move(*this) : Result(status_.withContext(context));
  }

  T &operator*() { return *value_; }
  const T &operator*() const { return *value_; }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }

private:
  std::optional<T> value_;
  Status status_;
};

// Leaves the enclosing function with the status of EXPR if that failed.
#define CLEAVE_TRY(EXPR)                                                                           \
  do {                                                                                             \
    if (::cleave::Status cleaveStatus = (EXPR); !cleaveStatus.isOk())                              \
      return cleaveStatus;                                                                         \
  } while (false)

// Declares or assigns VARIABLE from the value of the Result that the expression yields; leaves the
// enclosing function with its status if it failed:
//   CLEAVE_TRY_ASSIGN(Mesh mesh, parseMesh(text).withContext("--mesh"));
// Needs braces where it is the only statement of an `if` or a loop.
#define CLEAVE_TRY_ASSIGN(VARIABLE, ...)                                                           \
  CLEAVE_TRY_ASSIGN_FROM(CLEAVE_UNIQUE_NAME(cleaveResult, __LINE__), VARIABLE, (__VA_ARGS__))
#define CLEAVE_TRY_ASSIGN_FROM(RESULT, VARIABLE, EXPR)                                             \
  auto RESULT = EXPR;                                                                              \
  if (!RESULT.isOk())                                                                              \
    return RESULT.status();                                                                        \
  VARIABLE = std::move(*RESULT)
#define CLEAVE_UNIQUE_NAME(PREFIX, LINE) CLEAVE_UNIQUE_NAME_OF(PREFIX, LINE)
#define CLEAVE_UNIQUE_NAME_OF(PREFIX, LINE) PREFIX##LINE

} // namespace cleave
