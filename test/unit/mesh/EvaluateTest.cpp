// Reference evaluation of the collectives, on even and uneven blocks and one and two axes.
#include "dialects/mesh/Evaluate.h"
#include "dialects/mesh/MeshDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace cleave;
using namespace cleave::mesh;

namespace {

// One op of a function body, in a module with a mesh.
struct OneOp {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Operation *op = nullptr;
  Mesh mesh;

  OneOp(const std::string &meshText, const std::string &operands, const std::string &text) {
    context.loadDialect<MeshDialect>();
    context.allowUnregisteredDialects();
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "module attributes {mesh.mesh = #mesh.mesh<" + meshText + ">} { \"test.body\"() ({ ^bb0(" +
            operands + "): " + text + " }) : () -> () }",
        &context);
    REQUIRE(module);
    module->walk([&](mlir::Operation *inner) {
      if (isCollective(inner))
        op = inner;
    });
    mesh = toMesh(meshOf(op));
  }
};

Tensor vector(std::vector<double> values) {
  Tensor tensor(ElementType::F32, {static_cast<int64_t>(values.size())});
  tensor.values = std::move(values);
  return tensor;
}

// 0, 1, 2, … of this shape.
Tensor counting(std::vector<int64_t> shape) {
  Tensor tensor(ElementType::F32, std::move(shape));
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.values[i] = static_cast<double>(i);
  return tensor;
}

RankTensors split(const Tensor &whole, const Sharding &sharding, const Mesh &mesh) {
  RankTensors result;
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
    result.push_back({splitTensor(whole, sharding, mesh, rank)});
  return result;
}

std::vector<Tensor> firsts(const RankTensors &tensors) {
  std::vector<Tensor> result;
  for (const std::vector<Tensor> &ofRank : tensors)
    result.push_back(ofRank[0]);
  return result;
}

} // namespace

TEST_CASE("all_reduce combines every bucket member within the group") {
  OneOp one("[dp = 2, tp = 2]", "%a: tensor<1xf32>, %b: tensor<2xf32>",
            "%0:2 = mesh.all_reduce max %a, %b over {tp} : tensor<1xf32>, tensor<2xf32>");
  RankTensors operands;
  for (double rank = 0; rank < 4; ++rank)
    operands.push_back({vector({rank}), vector({10 - rank, rank})});
  RankTensors results = evaluateCollective(one.op, one.mesh, operands);
  CHECK(results[0][0].values == std::vector<double>{1});
  CHECK(results[1][1].values == std::vector<double>{10, 1});
  CHECK(results[2][0].values == std::vector<double>{3});
}

TEST_CASE("all_gather cuts off the padding of uneven blocks") {
  OneOp one("[dp = 4]", "%a: tensor<2xf32>",
            "%0 = mesh.all_gather %a dim 0 over {dp} : tensor<2xf32> -> tensor<7xf32>");
  Tensor whole = counting({7});
  RankTensors results = evaluateCollective(one.op, one.mesh, split(whole, {{{0}}, {}}, one.mesh));
  for (int64_t rank = 0; rank < 4; ++rank)
    CHECK(results[rank][0].values == whole.values);
}

TEST_CASE("reduce_scatter gives each rank its block of the sum") {
  OneOp one("[dp = 2]", "%a: tensor<3xf32>",
            "%0 = mesh.reduce_scatter sum %a dim 0 over {dp} : tensor<3xf32> -> tensor<2xf32>");
  RankTensors results =
      evaluateCollective(one.op, one.mesh, {{vector({1, 2, 3})}, {vector({10, 20, 30})}});
  CHECK(results[0][0].values == std::vector<double>{11, 22});
  CHECK(results[1][0].values[0] == 33);
  CHECK(std::isnan(results[1][0].values[1]));
}

TEST_CASE("all_to_all moves the split from one dim to another") {
  OneOp one("[dp = 3]", "%a: tensor<2x5xf32>",
            "%0 = mesh.all_to_all %a from 0 to 1 over {dp} : tensor<2x5xf32> -> tensor<4x2xf32>");
  Tensor whole = counting({4, 5});
  RankTensors results =
      evaluateCollective(one.op, one.mesh, split(whole, {{{0}, {}}, {}}, one.mesh));
  bool agree = false;
  Tensor joined = joinTensor(firsts(results), {4, 5}, {{{}, {0}}, {}}, one.mesh, &agree);
  CHECK(agree);
  CHECK(joined.values == whole.values);
}

TEST_CASE("permute moves blocks to the order of other axes") {
  OneOp one("[a = 2, b = 3]", "%a: tensor<2xf32>",
            "%0 = mesh.permute %a over {a, b} to {b, a} : tensor<2xf32>");
  Tensor whole = counting({11}); // the last block is padded
  RankTensors results =
      evaluateCollective(one.op, one.mesh, split(whole, {{{0, 1}}, {}}, one.mesh));
  bool agree = false;
  Tensor joined = joinTensor(firsts(results), {11}, {{{1, 0}}, {}}, one.mesh, &agree);
  CHECK(agree);
  CHECK(joined.values == whole.values);
}

TEST_CASE("a reversed permute exchanges blocks with the mirrored rank") {
  OneOp one("[a = 2, b = 3]", "%a: tensor<1xf32>",
            "%0 = mesh.permute %a over {a, b} to {a, b} reversed : tensor<1xf32>");
  Tensor whole = counting({6});
  RankTensors results =
      evaluateCollective(one.op, one.mesh, split(whole, {{{0, 1}}, {}}, one.mesh));
  for (int64_t rank = 0; rank < 6; ++rank)
    CHECK(results[rank][0].values[0] == whole.values[5 - rank]);
}

TEST_CASE("slice and block_offset follow the rank's position over several axes") {
  OneOp slice("[a = 2, b = 2]", "%a: tensor<4xf32>",
              "%0 = mesh.slice %a dim 0 over {b, a} : tensor<4xf32> -> tensor<1xf32>");
  RankTensors same(4, {counting({4})});
  RankTensors results = evaluateCollective(slice.op, slice.mesh, same);
  CHECK(results[1][0].values == std::vector<double>{2}); // a 0, b 1
  CHECK(results[2][0].values == std::vector<double>{1});
  OneOp offset("[a = 2, b = 2]", "", "%0 = mesh.block_offset over {b, a} block 3 : tensor<i64>");
  results = evaluateCollective(offset.op, offset.mesh, RankTensors(4));
  CHECK(results[1][0].values == std::vector<double>{6});
  CHECK(results[2][0].values == std::vector<double>{3});
}

TEST_CASE("splitting and joining is the identity for every layout") {
  Mesh mesh = {{{"a", 2}, {"b", 3}}};
  Tensor whole = counting({7, 4});
  for (const Sharding &sharding : std::vector<Sharding>{
           {{{}, {}}, {}}, {{{0, 1}, {}}, {}}, {{{1}, {0}}, {}}, {{{}, {1, 0}}, {}}}) {
    bool agree = false;
    Tensor joined =
        joinTensor(firsts(split(whole, sharding, mesh)), whole.shape, sharding, mesh, &agree);
    CHECK(agree);
    CHECK(joined.values == whole.values);
  }
}

TEST_CASE("joining adds partial values and detects ranks that disagree") {
  Mesh mesh = {{{"a", 2}, {"b", 2}}};
  std::vector<Tensor> blocks = {vector({1}), vector({2}), vector({3}), vector({4})};
  bool agree = true;
  Tensor joined = joinTensor(blocks, {1}, {{{}}, {1}}, mesh, &agree);
  CHECK(joined.values == std::vector<double>{3});
  CHECK(!agree);
  joined = joinTensor(blocks, {1}, {{{}}, {0, 1}}, mesh, &agree);
  CHECK(joined.values == std::vector<double>{10});
  CHECK(agree);
}
