// Views and writes: a write through one handle is visible through all handles on the same storage.
#include "test/unit/aten/AtenBench.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::test;
using aten::IValue;
using Numbers = std::vector<double>;

TEST_CASE("a write to a row is visible in the base") {
  AtenBench b;
  IValue x = b.counted({2, 3});
  IValue row = b.call("aten::select", {x, int64_t(0), int64_t(1)});
  b.call("aten::add_", {row, 10.0});
  CHECK(b.values(x) == Numbers{0, 1, 2, 13, 14, 15});
}

TEST_CASE("a write to the base is visible in every view") {
  AtenBench b;
  IValue x = b.counted({2, 3});
  IValue transposed = b.call("aten::t", {x});
  IValue part = b.call("aten::slice", {transposed, int64_t(0), int64_t(1), int64_t(3)});
  b.call("aten::mul_", {x, 2.0});
  CHECK(b.values(part) == Numbers{2, 8, 4, 10});
}

TEST_CASE("a write through several views reaches the storage") {
  AtenBench b;
  IValue x = b.counted({2, 6});
  IValue halves = b.call("aten::view", {x, ints({2, 3, 2})});
  IValue transposed = b.call("aten::permute", {halves, ints({1, 0, 2})});
  b.call("aten::zero_", {b.call("aten::select", {transposed, int64_t(0), int64_t(-1)})});
  CHECK(b.values(x) == Numbers{0, 1, 2, 3, 0, 0, 6, 7, 8, 9, 0, 0});
}

TEST_CASE("a write to a slice with a step keeps the elements between") {
  AtenBench b;
  IValue x = b.counted({6});
  b.call("aten::fill_", {b.call("aten::slice", {x, int64_t(0), int64_t(1), {}, int64_t(2)}), 9.0});
  CHECK(b.values(x) == Numbers{0, 9, 2, 9, 4, 9});
}

TEST_CASE("copies do not change with their source") {
  AtenBench b;
  IValue x = b.counted({4});
  IValue copy = b.call("aten::clone", {x});
  IValue converted = b.call("aten::to", {x, int64_t(7)});
  IValue same = b.call("aten::to", {x, int64_t(6)});
  b.call("aten::neg_", {x});
  CHECK(b.values(copy) == Numbers{0, 1, 2, 3});
  CHECK(b.values(converted) == Numbers{0, 1, 2, 3});
  CHECK(b.values(same) == Numbers{0, -1, -2, -3});
}

TEST_CASE("reshaping makes a view of rows and a copy of columns") {
  AtenBench b;
  IValue x = b.counted({2, 2});
  IValue rows = b.call("aten::reshape", {x, ints({4})});
  IValue columns = b.call("aten::reshape", {b.call("aten::t", {x}), ints({-1})});
  b.call("aten::add_", {x, 1.0});
  CHECK(b.values(rows) == Numbers{1, 2, 3, 4});
  CHECK(b.values(columns) == Numbers{0, 2, 1, 3});
}

TEST_CASE("pieces of a tensor are views of it") {
  AtenBench b;
  IValue x = b.counted({5});
  IValue first = b.call("aten::split", {x, int64_t(2)});
  b.call("aten::fill_", {first, 7.0});
  CHECK(b.values(x) == Numbers{7, 7, 2, 3, 4});
}

TEST_CASE("a write keeps the type and shape of its target") {
  AtenBench b;
  IValue x = b.counted({2, 2});
  b.call("aten::copy_", {x, b.tensor({2}, {5, 6}, ElementType::I64)});
  Tensor out = b.read(x);
  CHECK(out.type == ElementType::F32);
  CHECK(out.values == Numbers{5, 6, 5, 6});
  IValue whole = b.counted({2}, ElementType::I64);
  CHECK(b.problem("aten::add_", {whole, 0.5}) ==
        "aten::add_: writes floating-point numbers into a tensor of integers");
}

TEST_CASE("repeated elements cannot be written") {
  AtenBench b;
  IValue wide = b.call("aten::expand", {b.counted({1, 2}), ints({3, 2})});
  CHECK(b.problem("aten::add_", {wide, 1.0}) ==
        "aten::add_: writes to a view that shows one element several times");
}

TEST_CASE("windows that do not overlap can be written") {
  AtenBench b;
  IValue x = b.counted({7});
  b.call("aten::fill_", {b.call("aten::unfold", {x, int64_t(0), int64_t(2), int64_t(3)}), 9.0});
  CHECK(b.values(x) == Numbers{9, 9, 2, 9, 9, 5, 6});
  IValue single = b.call("aten::unfold", {x, int64_t(0), int64_t(5), int64_t(4)}); // one window
  b.call("aten::zero_", {single});
  CHECK(b.values(x) == Numbers{0, 0, 0, 0, 0, 5, 6});
  IValue matrix = b.counted({2, 4});
  IValue pairs = b.call("aten::unfold", {matrix, int64_t(1), int64_t(2), int64_t(2)});
  b.call("aten::mul_", {b.call("aten::select", {pairs, int64_t(1), int64_t(1)}), -1.0});
  CHECK(b.values(matrix) == Numbers{0, 1, -2, -3, 4, 5, -6, -7});
}

TEST_CASE("a write that cannot be done names the buffer") {
  AtenBench b;
  IValue q = b.counted({6});
  q.tensor()->storage()->name = "queue";
  IValue windows = b.call("aten::unfold", {q, int64_t(0), int64_t(3), int64_t(2)});
  CHECK(b.problem("aten::zero_", {windows}) ==
        "aten::zero_: writes to a view of 'queue' that shows one element several times");
  CHECK(b.problem("aten::view", {q}, {{"dtype", int64_t(3)}}) ==
        "aten::view: shows the bits of float32 of 'queue' as int32, which Cleave does not do; "
        "convert the numbers (to)");
  CHECK(b.values(b.call("aten::view", {q}, {{"dtype", int64_t(6)}})) == b.values(q));
}

TEST_CASE("an argument `out` gets the result") {
  AtenBench b;
  IValue x = b.counted({2, 3});
  IValue row = b.call("aten::select", {x, int64_t(0), int64_t(1)});
  IValue result = b.call("aten::mul", {row, 2.0}, {{"out", row}});
  CHECK(b.values(result) == Numbers{6, 8, 10});
  CHECK(b.values(x) == Numbers{0, 1, 2, 6, 8, 10});
  IValue half = b.tensor({3}, {0, 0, 0}, ElementType::F64);
  b.call("aten::add", {row, 0.5}, {{"out", half}});
  CHECK(b.read(half).type == ElementType::F64);
  CHECK(b.values(half) == Numbers{6.5, 8.5, 10.5});
  CHECK(b.problem("aten::mul", {row, 2.0}, {{"out", x}}) ==
        "aten::mul: gives [3], but 'out' has the shape [2, 3], expected equal shapes");
  CHECK(b.problem("aten::add", {row, 0.5}, {{"out", b.counted({3}, ElementType::I64)}}) ==
        "aten::add: writes floating-point numbers into a tensor of integers");
  CHECK(b.problem("aten::mul", {row, 2.0}, {{"out", IValue::list({half, half})}}) ==
        "aten::mul: has 1 results, but 'out' takes 2");
}

TEST_CASE("a constant that the program makes anew is not written") {
  AtenBench b;
  IValue constant = b.counted({2});
  b.call("aten::add_", {b.call("aten::lift_fresh", {constant}), 1.0});
  CHECK(b.values(constant) == Numbers{0, 1});
}
