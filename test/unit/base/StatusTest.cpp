// Status and Result carry a kind, a message and contexts.
#include "runtime/base/Status.h"

#include <catch2/catch.hpp>

using namespace cleave;

static Result<int> half(int n) {
  if (n % 2)
    return Status::userError("found an odd number, expected an even one");
  return n / 2;
}

static Status quarter(int n, int &out) {
  Result<int> once = half(n);
  CLEAVE_TRY(once.status());
  Result<int> twice = half(*once);
  CLEAVE_TRY(twice.status());
  out = *twice;
  return Status::ok();
}

TEST_CASE("a result has a value or a failed status") {
  CHECK(*half(4) == 2);
  CHECK_FALSE(half(3));
  CHECK(half(3).status().exitCode() == 1);
}

TEST_CASE("a failed status leaves the function that tries it") {
  int out = -1;
  CHECK(quarter(8, out));
  CHECK(out == 2);
  Status status = quarter(6, out).withContext("quarter of 6");
  CHECK(status.message() == "quarter of 6: found an odd number, expected an even one");
  CHECK(out == 2);
}
