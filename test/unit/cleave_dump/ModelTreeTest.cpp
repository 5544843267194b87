// The modules of a model, and the parameters that instructions work for.
#include "tools/cleave-dump/ModelTree.h"
#include "SmallPlan.h"

#include "tools/cleave-dump/InstructionOwners.h"

#include <catch2/catch.hpp>

using namespace cleave;
using Owners = std::vector<std::vector<int>>;

TEST_CASE("an instruction works for its parameters, or for those of the next reader") {
  const plan::Plan plan = smallPlan();
  // x is read by the product with h.0.w; the sum and the loss are read by nothing with a parameter.
  CHECK(dump::instructionOwners(plan, plan.programs(0)) ==
        Owners{{1}, {1}, {2}, {}, {}, {}, {}, {1}, {2}});
}

TEST_CASE("a gathered parameter stands for it, and a value to which one is added does not") {
  plan::Plan plan = smallPlan();
  plan::Program &program = *plan.mutable_programs(0);
  auto &instructions = *program.mutable_segments(0)->mutable_instructions();
  // h.1.w is gathered into z, which the second product reads.
  plan::Instruction gather;
  gather.mutable_collective()->set_kind(plan::Collective::ALL_GATHER);
  gather.mutable_collective()->add_send(2), gather.mutable_collective()->add_recv(6);
  instructions[0] = gather;
  instructions[2].mutable_matmul()->mutable_rhs()->set_buffer(6);
  Owners owners = dump::instructionOwners(plan, program);
  CHECK(owners[0] == std::vector<int>{2});
  CHECK(owners[1] == std::vector<int>{1});
  CHECK(owners[2] == std::vector<int>{2});
  // h.1.w is added to the result of the first product.
  plan::Instruction add;
  add.mutable_launch()->add_buffers(2), add.mutable_launch()->add_buffers(4);
  add.mutable_launch()->add_written(1);
  instructions[0] = smallPlan().programs(0).segments(0).instructions(0);
  instructions[2] = add;
  owners = dump::instructionOwners(plan, program);
  CHECK(owners[1] == std::vector<int>{1});
  CHECK(owners[2] == std::vector<int>{2});
}

TEST_CASE("equal modules in a row share a node, with the sums of their seconds") {
  plan::Plan plan = smallPlan();
  plan.mutable_decisions(0)->set_kind("kept"), plan.mutable_decisions(0)->set_bytes(100);
  plan.mutable_decisions(1)->set_kind("kept"), plan.mutable_decisions(1)->set_bytes(20);
  plan.mutable_decisions(1)->set_place("input of h.1.w, gradient");
  dump::Json tree = dump::modelTree(plan).nodes;
  REQUIRE(tree.size() == 1);
  CHECK(tree[0]["name"] == "h.{0,1}");
  CHECK(tree[0]["count"] == 2);
  CHECK(tree[0]["parameters"] == dump::Json::array({{"w", "[_, _]", 2048}}));
  CHECK(tree[0]["kept"] == 120);
  CHECK(tree[0]["decisions"] == dump::Json({0, 1}));
  double seconds = 0;
  for (const dump::Json &row : tree[0]["seconds"])
    seconds += row[2].get<double>();
  CHECK(seconds == Approx(2 * 1e-6 + 2 * 4e-6 + 2e-6)); // two micro-batches, then the updates

  plan.mutable_tensors(2)->mutable_sharding(0)->add_axes(1);
  tree = dump::modelTree(plan).nodes;
  REQUIRE(tree.size() == 1);
  CHECK(tree[0]["name"] == "h");
  REQUIRE(tree[0]["parts"].size() == 2);
  CHECK(tree[0]["parts"][1]["parameters"] == dump::Json::array({{"w", "[tp, _]", 512}}));
}

TEST_CASE("layers that equal an earlier one share its node, although another is between them") {
  plan::Plan plan = smallPlan();
  plan.mutable_tensors(3)->set_role(plan::PARAMETER);
  plan.mutable_tensors(3)->set_name("h.2.w");
  plan.mutable_tensors(2)->mutable_sharding(0)->add_axes(1);
  const dump::Json parts = dump::modelTree(plan).nodes[0]["parts"];
  REQUIRE(parts.size() == 2);
  CHECK(parts[0]["name"] == "{0,2}");
  CHECK(parts[1]["name"] == "1");
}
