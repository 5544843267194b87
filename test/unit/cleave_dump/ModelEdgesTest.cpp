// Edges of the model graph: readers, values, layouts, collectives and skip connections.
#include "tools/cleave-dump/ModelEdges.h"
#include "SmallPlan.h"

#include "tools/cleave-dump/InstructionOwners.h"
#include "tools/cleave-dump/ModelTree.h"

#include <catch2/catch.hpp>

using namespace cleave;

// `from > to`, with `*` after skip connections.
static std::vector<std::string> texts(const std::vector<dump::ModelEdge> &edges) {
  std::vector<std::string> result;
  for (const dump::ModelEdge &edge : edges)
    result.push_back(edge.from + " > " + edge.to + (edge.isSkip ? " *" : ""));
  return result;
}

// The small plan with a third layer, whose product reads the result of the second one.
static plan::Plan threeLayers() {
  plan::Plan plan = smallPlan();
  plan.mutable_tensors(3)->set_role(plan::PARAMETER);
  plan.mutable_tensors(3)->set_name("h.2.w");
  plan::Program &program = *plan.mutable_programs(0);
  program.mutable_buffers(3)->set_role(plan::PARAMETER);
  auto &instructions = *program.mutable_segments(0)->mutable_instructions();
  plan::Instruction product = instructions[2];
  product.set_name("h.2.product");
  product.mutable_matmul()->mutable_lhs()->set_buffer(5);
  product.mutable_matmul()->mutable_rhs()->set_buffer(3);
  product.mutable_matmul()->mutable_out()->set_buffer(6);
  instructions[3] = product;
  return plan;
}

TEST_CASE("a value passes from the module that computes it to the one that reads it") {
  const std::vector<dump::ModelEdge> edges = dump::modelEdges(smallPlan());
  REQUIRE(texts(edges) == std::vector<std::string>{"h.0 > h.1"});
  CHECK(edges[0].value == "f32[4x16]");
  CHECK(edges[0].bytes == 256);
  CHECK(edges[0].layout == "");
  CHECK(edges[0].passage == "");
}

TEST_CASE("an edge names the layout of a product, and the collectives that move its result") {
  plan::Plan plan = smallPlan();
  plan::Program &program = *plan.mutable_programs(0);
  auto &instructions = *program.mutable_segments(0)->mutable_instructions();
  plan::Instruction sum = instructions[3];
  sum.mutable_collective()->set_send(0, 4);
  *instructions.Add() = instructions[6];
  for (int i = instructions.size() - 1; i > 2; --i)
    instructions.SwapElements(i, i - 1);
  instructions[2] = sum;
  instructions[3].mutable_matmul()->mutable_lhs()->set_buffer(6);
  plan::Decision &decision = *plan.add_decisions();
  decision.set_name("h.0.product"), decision.set_place("h.0.w");
  decision.set_choice("terms (c) over dp in a c, c b -> a b; gives [_, _] partial(dp)");
  const std::vector<dump::ModelEdge> edges = dump::modelEdges(plan);
  REQUIRE(texts(edges) == std::vector<std::string>{"h.0 > h.1"});
  CHECK(edges[0].layout == "[_, _] partial(dp)");
  CHECK(edges[0].passage == "all-reduce over dp");
}

TEST_CASE("an edge beside a longer path is a skip connection") {
  plan::Plan plan = threeLayers();
  CHECK(texts(dump::modelEdges(plan)) == std::vector<std::string>{"h.0 > h.1", "h.1 > h.2"});
  plan.mutable_programs(0)
      ->mutable_segments(0)
      ->mutable_instructions(3)
      ->mutable_matmul()
      ->add_bias(4);
  CHECK(texts(dump::modelEdges(plan)) ==
        std::vector<std::string>{"h.0 > h.1", "h.1 > h.2", "h.0 > h.2 *"});
}

TEST_CASE("values that work without a module passes on join without being multiplied") {
  plan::Plan plan = smallPlan();
  auto &instructions = *plan.mutable_programs(0)->mutable_segments(0)->mutable_instructions();
  const plan::Instruction product = instructions[2], loss = instructions[5];
  instructions.DeleteSubrange(2, instructions.size() - 2);
  for (int layer = 0; layer < 40; ++layer) { // a product of the value and itself
    plan::Instruction &square = *instructions.Add() = product;
    square.mutable_matmul()->mutable_lhs()->set_buffer(4);
    square.mutable_matmul()->mutable_rhs()->set_buffer(4);
    square.mutable_matmul()->mutable_out()->set_buffer(4);
    square.mutable_matmul()->add_bias(4);
  }
  *instructions.Add() = product;
  *instructions.Add() = loss;
  instructions[instructions.size() - 1].mutable_launch()->set_buffers(0, 5);
  CHECK(texts(dump::modelEdges(plan)) == std::vector<std::string>{"h.0 > h.1"});
}

TEST_CASE("work that the loss does not need is not part of the forward pass") {
  plan::Plan plan = threeLayers();
  plan::Program &program = *plan.mutable_programs(0);
  program.mutable_segments(0)->mutable_instructions(5)->mutable_launch()->set_buffers(0, 5);
  CHECK(texts(dump::modelEdges(plan)) == std::vector<std::string>{"h.0 > h.1"});
}

TEST_CASE("edges between equal layers are one edge of their node") {
  const dump::ModelJson model = dump::modelTree(threeLayers());
  REQUIRE(model.nodes.size() == 1);
  CHECK(model.edges.dump() == R"([{"from":0,"to":0,"names":["h.{0,1}","h.{1,2}"],"copies":true,)"
                              R"("values":[["f32[4x16]",256]]}])");
}

TEST_CASE("each instance of a shared launch works for its own parameters") {
  plan::Plan plan = smallPlan();
  plan::Program &program = *plan.mutable_programs(0);
  program.mutable_kernels(0)->set_instances(2);
  plan::Instruction cast;
  for (uint32_t buffer : {1, 6, 2, 7})
    cast.mutable_launch()->add_buffers(buffer);
  cast.mutable_launch()->add_written(1), cast.mutable_launch()->add_written(3);
  *program.mutable_segments(0)->mutable_instructions(0) = cast;
  CHECK(dump::partOwners(plan, program)[0] == std::vector<dump::Owners>{{1}, {2}});
  CHECK(dump::instructionOwners(plan, program)[0] == dump::Owners{1, 2});
}
