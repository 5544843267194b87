// The views of cleave-dump on a plan made by hand, and on plans that are broken.
#include "SmallPlan.h"

#include "runtime/artifact/Verify.h"
#include "runtime/base/Table.h"
#include "tools/cleave-dump/ArenaUse.h"
#include "tools/cleave-dump/Views.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace cleave;
using Catch::Matchers::Contains;

// The text with one blank for several: columns may move.
static std::string squeezed(const std::string &text) {
  std::string result;
  for (char c : text)
    if (c != ' ' || (!result.empty() && result.back() != ' '))
      result += c;
  return result;
}

TEST_CASE("the plan made by hand is valid") {
  CHECK(artifact::verifyPlan(smallPlan()).message() == "");
}

TEST_CASE("the bound of a step that overlaps is one without overlap") {
  plan::Plan plan = smallPlan();
  CHECK_THAT(squeezed(dump::summary(plan, "p")), !Contains("without overlap"));
  plan.mutable_predicted()->set_step_seconds(0.00003); // less than compute and communication
  CHECK_THAT(squeezed(dump::summary(plan, "p")),
             Contains("communication 30.0 us, of which 14.0 us at the same time") &&
                 Contains("44.2 us by the planner's model, without overlap; no plan "
                          "takes less than 40.0 us: gap 9.1 %"));
  plan.mutable_predicted()->set_communication_seconds(0);
  CHECK_THAT(squeezed(dump::summary(plan, "p")), !Contains("without"));
  plan.set_device("cuda");
  CHECK_THAT(squeezed(dump::summary(plan, "p")),
             Contains("planner's model, without shared launches; no plan"));
}

TEST_CASE("the summary says what was decided, why, and what it costs") {
  std::string text = squeezed(dump::summary(smallPlan(), "out/two.plan"));
  for (const char *line :
       {"two.plan: training of two.onnx on 4 ranks, mesh dp=2,tp=2\n",
        "step 44.0 us: compute 14.0 us, communication 30.0 us (predicted for local-cpu)\n",
        "bound 44.2 us by the planner's model; no plan takes less than 40.0 us: "
        "gap 9.1 %\n",
        "checked the verifier found no defect\n",
        "0-3 device 4.00 KiB 3.50 KiB 12.5 % parameter 2.00 KiB, state 1.00 "
        "KiB",
        "h.{0,1}.w x2 [_, _] 2.00 us replicated: gathering it costs more than it "
        "saves\n",
        "* half of the ranks repeat the other half's work\n",
        "micro all-reduce dp 2 2 512 B 30.0 us\n"})
    CHECK_THAT(text, Contains(line));
}

TEST_CASE("the short form has about ten lines, none wider than the terminal") {
  plan::Plan plan = smallPlan();
  plan::Prediction &predicted = *plan.mutable_predicted();
  predicted.set_peak_seconds(0.0000176);
  plan::Decision &axis = *plan.add_decisions();
  axis.set_kind("axis"), axis.set_name("dp=2");
  axis.set_reason("splits the batch");
  plan::Decision &strategy = *plan.add_decisions();
  strategy.set_kind("strategy"), strategy.set_name("TP 2 x ZeRO-1 2");
  strategy.set_reason("optimizer states sharded over dp=2; parameters replicated");
  for (const char *name : {"dp=2,tp=2", "dp=4"}) {
    plan::Decision &mesh = *plan.add_decisions();
    mesh.set_kind("mesh"), mesh.set_name(name), mesh.set_seconds(5e-5);
    mesh.set_choice(mesh.name() == "dp=4" ? "at least" : "chosen");
  }
  const std::string wide = dump::brief(plan, "out/two.plan"), text = squeezed(wide);
  for (const char *line :
       {"two.plan: training of two.onnx on 4 ranks, mesh dp=2,tp=2\n",
        "speed 364k samples/s, MFU 10.0 %\n", "dp=2 splits the batch\n",
        "strategy TP 2 x ZeRO-1 2: optimizer states sharded over dp=2; parameters replicated\n",
        "meshes 2 considered; dp=4 takes at least 50.0 us, others more\n", "device cpu\n"})
    CHECK_THAT(text, Contains(line));
  CHECK(std::count(wide.begin(), wide.end(), '\n') <= 12);
  ::setenv("COLUMNS", "60", 1);
  std::istringstream narrow(dump::summary(plan, "out/two.plan"));
  for (std::string line; std::getline(narrow, line);)
    CHECK(displayWidth(line) <= 60);
  ::unsetenv("COLUMNS");
}

TEST_CASE("the summary compares memory with the budget, and MFU with the peak of a type") {
  plan::Plan plan = smallPlan();
  plan::Prediction &predicted = *plan.mutable_predicted();
  CHECK_THAT(squeezed(dump::brief(plan, "p")), Contains("memory 3.50 KiB per rank: "));
  predicted.set_budget_bytes(4096);
  CHECK_THAT(squeezed(dump::brief(plan, "p")),
             Contains("memory 3.50 KiB of 4.00 KiB per rank (headroom 512 B): "));
  predicted.set_is_memory_binding(true);
  predicted.set_peak_seconds(0.0000176), predicted.set_peak_type("bf16");
  predicted.set_is_calibrated(false);
  const std::string text = squeezed(dump::summary(plan, "p"));
  CHECK_THAT(text, Contains("memory 3.50 KiB of 4.00 KiB per rank (binding, headroom 512 B)\n"));
  CHECK_THAT(text, Contains("MFU 10.0 % of the peak in bf16\n"));
  CHECK_THAT(text, Contains("(predicted for local-cpu, never measured on this device)\n"));
}

TEST_CASE("a pipeline is part of the strategy, and stages that differ have a row each") {
  plan::Plan plan = smallPlan();
  plan.mutable_mesh(0)->set_name("stage");
  for (const char *name : {"FSDP 2", "DDP 2"}) {
    plan::Decision &strategy = *plan.add_decisions();
    strategy.set_kind("strategy"), strategy.set_name(name);
  }
  CHECK_THAT(squeezed(dump::brief(plan, "p")),
             Contains("strategy PP 2 x FSDP 2\n") && Contains("strategy PP 2 x DDP 2\n"));
}

TEST_CASE("equal places of layers share a row, with the least of their next best choices") {
  plan::Plan plan = smallPlan();
  plan.clear_decisions();
  for (int layer = 0; layer < 3; ++layer) {
    plan::Decision &decision = *plan.add_decisions();
    decision.set_kind("graph.dot_general"), decision.set_choice("whole");
    decision.set_name("matmul_" + std::to_string(9 * layer + 4)), decision.set_seconds(1e-6);
    decision.set_place("h." + std::to_string(layer) + ".fc.weight, weight gradient");
    plan::Alternative &other = *decision.add_alternatives();
    other.set_choice("split"), other.set_seconds((5 - layer) * 1e-6);
    decision.set_reason("+" + std::to_string(5 - layer) + ".00 us: split");
  }
  const std::string text = squeezed(dump::summary(plan, "p"));
  CHECK_THAT(text, Contains("graph.dot_general choice cost next best, all else equal\n"));
  CHECK_THAT(text, Contains("h.{0-2}.fc.weight, weight gradient x3 whole 3.00 us from +3.00 us: "
                            "split\n"));
  for (plan::Decision &decision : *plan.mutable_decisions()) {
    decision.set_reason("+3.00 us: split");
    decision.mutable_alternatives(0)->set_seconds(3e-6);
  }
  CHECK_THAT(squeezed(dump::summary(plan, "p")), Contains("+3.00 us each: split\n"));
  for (plan::Decision &decision : *plan.mutable_decisions())
    decision.set_reason("equally fast: split");
  CHECK_THAT(squeezed(dump::summary(plan, "p")), Contains(" 3.00 us equally fast: split\n"));
  CHECK_THAT(*dump::explain(plan, "matmul_13"), Contains("h.1.fc.weight, weight gradient"));
}

TEST_CASE("recomputation is told per group of alike values: how many of how many layers") {
  plan::Plan plan = smallPlan();
  for (int layer = 0; layer < 4; ++layer) {
    plan::Decision &decision = *plan.add_decisions();
    decision.set_kind(layer == 3 ? "kept" : "recompute"), decision.set_bytes(1 << 20);
    decision.set_name("mul_" + std::to_string(layer) + (layer == 3 ? "" : ", recomputed"));
    decision.set_place("input of h." + std::to_string(layer) + ".down.weight" +
                       (layer == 3 ? "" : ", recomputed"));
    decision.add_alternatives()->set_seconds(-2e-6);
  }
  plan::Decision &part = *plan.add_decisions(); // another result of a recomputed op
  part.set_kind("kept"), part.set_name("mul_0"), part.set_bytes(1024);
  part.set_place("input of h.0.down.weight");
  plan::Decision &other = *plan.add_decisions();
  other.set_kind("recompute"), other.set_name("cos, recomputed"), other.set_bytes(1024);
  const std::string text = squeezed(dump::summary(plan, "p"));
  CHECK_THAT(text,
             Contains("recomputed (activation checkpointing) values not kept time per GiB\n"));
  CHECK_THAT(text, Contains("input of h.{0-2}.down.weight 3 of 4 3.00 MiB 6.00 us 2.05 ms\n"));
  CHECK_THAT(
      squeezed(dump::brief(plan, "p")),
      Contains("recompute activation checkpointing of 4 values: 3.00 MiB not kept, 6.00 us") &&
          Contains("h.{0-2}.down.weight (3.00 MiB)\n"));
  plan::Decision &copy = *plan.add_decisions(); // of a parameter: no activation
  copy.set_kind("recompute"), copy.set_name("cast, recomputed"), copy.set_bytes(1 << 20);
  copy.set_place("copy of h.0.down.weight, recomputed"), copy.set_is_of_parameters(true);
  CHECK_THAT(squeezed(dump::brief(plan, "p")),
             Contains("activation checkpointing of 4 values: 3.00 MiB not kept") &&
                 Contains("(3.00 MiB); a copy of a parameter is recomputed\n"));
}

TEST_CASE("the meshes that were tried are a table with time and memory, the chosen one first") {
  plan::Plan plan = smallPlan();
  auto add = [&](const char *name, const char *choice, double seconds, uint64_t bytes) {
    plan::Decision &mesh = *plan.add_decisions();
    mesh.set_kind("mesh"), mesh.set_name(name), mesh.set_choice(choice);
    mesh.set_seconds(seconds), mesh.set_bytes(bytes);
  };
  add("dp=4", "at least", 5e-5, 0);
  add("dp=2,tp=2", "chosen", 4.4e-5, 4096);
  const std::string text = squeezed(dump::summary(plan, "p"));
  const size_t chosen = text.find("dp=2,tp=2 44.0 us 4.00 KiB chosen\n"),
               other = text.find("dp=4 >= 50.0 us ruled out by its bound\n");
  CHECK(chosen < other);
  CHECK(other != std::string::npos);
  CHECK_THAT(dump::htmlView(plan, "p"), Contains(R"("verdict":"ruled out by its bound")"));
  // A bound below the seconds of the plan rules nothing out.
  plan.mutable_predicted()->set_planned_seconds(6.25e-5);
  CHECK_THAT(squeezed(dump::summary(plan, "p")),
             Contains(">= 50.0 us not planned: at most 20.0 % faster than the chosen one\n"));
}

TEST_CASE("an axis is explained with the collectives over it") {
  plan::Plan plan = smallPlan();
  plan::Decision &axis = *plan.add_decisions();
  axis.set_kind("axis"), axis.set_name("dp=2"), axis.set_choice("batch in 100.0 %");
  Result<std::string> text = dump::explain(plan, "dp=2");
  REQUIRE(text);
  CHECK_THAT(squeezed(*text), Contains("axis: batch in 100.0 % of the FLOPs\n") &&
                                  Contains("micro all-reduce dp 2 2 512 B 30.0 us\n"));
  axis.set_name("tp=2");
  CHECK_THAT(*dump::explain(plan, "tp=2"), !Contains("all-reduce"));
}

TEST_CASE("a tied parameter is explained by each of its names") {
  plan::Plan plan = smallPlan();
  plan.mutable_tensors(1)->add_other_names("head.w");
  Result<std::string> text = dump::explain(plan, "head.w");
  REQUIRE(text);
  CHECK_THAT(*text, Contains("h.0.w\n") && Contains("is also named head.w: the two are tied\n"));
  CHECK_THAT(dump::explain(plan, "head.z").status().message(), Contains("did you mean head.w?"));
}

TEST_CASE("the summary of a plan without a model file says so") {
  plan::Plan plan = smallPlan();
  plan.clear_source();
  CHECK_THAT(dump::summary(plan, "p"), Contains("p: training of a step without a model file on 4"));
}

TEST_CASE("a broken plan is shown with the verifier's objection") {
  plan::Plan plan = smallPlan();
  plan.mutable_programs(0)->mutable_arenas(0)->set_bytes(3000);
  CHECK_THAT(dump::summary(plan, "p"), !Contains("found no defect") && Contains("arena 0"));
}

TEST_CASE("of many decisions the costliest are shown and the rest is counted") {
  plan::Plan plan = smallPlan();
  plan.clear_decisions();
  for (char letter = 'A'; letter <= 'Z'; ++letter) {
    plan::Decision *decision = plan.add_decisions();
    decision->set_name(std::string("layer") + letter);
    decision->set_kind("compute");
    decision->set_seconds(letter == 'Q' ? 1 : 0.001 * ('Z' - letter));
  }
  std::string text = squeezed(dump::summary(plan, "p"));
  CHECK_THAT(text, Contains("layerA") && Contains("layerS") && Contains("layerQ 1.00 s"));
  CHECK_THAT(text, !Contains("layerU") && !Contains("layerZ"));
  CHECK_THAT(text, Contains("… and 6 cheaper rows: see -v\n"));
}

TEST_CASE("each answer to what-if has a row: seconds of whole steps do not add up") {
  plan::Plan plan = smallPlan();
  for (const char *change : {"--ranks 2", "--ranks 8"}) {
    plan::Decision *decision = plan.add_decisions();
    decision->set_name(change);
    decision->set_kind("what-if");
    decision->set_choice("the same time");
    decision->set_seconds(1e-3);
  }
  std::string text = squeezed(dump::summary(plan, "two.plan"));
  CHECK_THAT(text, Contains("--ranks 2 the same time 1.00 ms"));
  CHECK_THAT(text, Contains("--ranks 8 the same time 1.00 ms"));
}

TEST_CASE("a long program is drawn on a line of fixed width that shows its peak") {
  plan::Plan plan = smallPlan();
  plan::Program &program = *plan.mutable_programs(0);
  for (int i = 0; i < 1000; ++i)
    program.mutable_segments(1)->add_instructions()->set_name("nothing");
  for (plan::Buffer &buffer : *program.mutable_buffers())
    if (buffer.last() == 8)
      buffer.set_last(1008);
  plan::Buffer *peak = program.add_buffers();
  peak->set_name("spike"), peak->set_bytes(4096), peak->set_first(500), peak->set_last(500);
  std::string text = dump::memoryView(plan);
  CHECK_THAT(text, Contains("the peak is at instruction 500 (update, nothing)"));
  CHECK_THAT(text, Contains("7.00 KiB |" + std::string(35, ' ') + "█\n"));
}

TEST_CASE("the layouts tell what one rank holds and where values come from") {
  std::string text = squeezed(dump::shardingView(smallPlan()));
  CHECK_THAT(text, Contains("x input f32 8x16 [dp, _] 4x16 256 B\n"));
  CHECK_THAT(text, Contains("[_, _] 16x16 1.00 KiB model file\n"));
  CHECK_THAT(text, Contains("two.bin\n") && Contains("all 0.5\n"));
  CHECK_THAT(text, Contains("4 tensors of 3.50 KiB; one rank holds 3.25 KiB\n"));
}

TEST_CASE("the use of an arena counts what is live at every instruction") {
  dump::ArenaUse use = dump::arenaUse(smallPlan().programs(0), 0);
  CHECK(use.live == std::vector<uint64_t>{3328, 3584, 3584, 3584, 3584, 3332, 3076, 3072, 3072});
  CHECK(use.always == 3072);
  CHECK(use.peakPosition == 1);
  CHECK(use.roles[plan::INPUT] == 256);
}

TEST_CASE("the memory view draws a picture with segments and names what is live at the peak") {
  std::string text = dump::memoryView(smallPlan());
  std::string tables = squeezed(text);
  CHECK_THAT(text, Contains("4.00 KiB allocated, 3.50 KiB at the peak, 512 B lost to placement\n"));
  CHECK_THAT(text, Contains("the peak is at instruction 1 (micro, h.0.product)"));
  CHECK_THAT(text, Contains("4.00 KiB |\n"));
  CHECK_THAT(text, Contains(" |▒▒▒▒▒▒▒▒▒\n"));
  CHECK_THAT(text, Contains(" |micro |update\n"));
  CHECK_THAT(tables, Contains("h.{0,1}.w 2 parameter 2.00 KiB"));
  CHECK_THAT(tables, Contains("f32 4x16 activation 256 B 0 2-4\n"));
}

TEST_CASE(
    "every collective is listed with its groups, bytes and the place where it is waited for") {
  std::string text = squeezed(dump::collectivesView(smallPlan()));
  CHECK_THAT(text, Contains("3 sum all-reduce dp {0,2} {1,3} 1 256 B 15.0 us 4\n"));
  CHECK_THAT(text, Contains("segment micro, runs 2 times a step\n"));
  plan::Plan alone = smallPlan();
  alone.mutable_programs(0)->mutable_segments(0)->clear_instructions();
  CHECK_THAT(dump::collectivesView(alone), Contains("No collectives"));
}

TEST_CASE("the work of a step is listed by kind of instruction") {
  Result<std::string> text = dump::kindsView(smallPlan());
  INFO((text ? "" : text.status().message()));
  REQUIRE(text);
  // Two micro-batches of two products: 2 * 4 * 16 * 16 FLOPs, and 256 + 1024 + 256 bytes each.
  for (const char *line :
       {"instructions per step predicted share FLOPs bytes FLOP/s B/s\n",
        "all-reduce 2 30.0 us 68.2 % 512 B 17.1 M\n",
        "matmul 4x16x16 4 8.00 us 18.2 % 8.19 K 6.00 KiB 1.02 G 768 M\n",
        "kernel cleave_mean 2 2.00 us 4.5 %\n", "fill 2 0 s 0 % 512 B\n", "all 16 44.0 us 100.0 %",
        "8.19 KFLOP in products, 0 % with factors of 16 bits or tf32\n"})
    CHECK_THAT(squeezed(*text), Contains(line));
}

TEST_CASE("a rank's program is listed instruction by instruction") {
  Result<std::string> text = dump::programView(smallPlan(), 2);
  REQUIRE(text);
  for (const char *line :
       {"rank 2 (the same on ranks 0-3): 8 buffers, 3 kernels; a step runs micro x2, "
        "update\n",
        "load input x -> x f32[4x16]",
        "matmul h.1.product 4x16x16: h.0.y f32[4x16], h.1.w f32[16x16] -> h.1.y f32[4x16]",
        "3 all-reduce sum over dp: h.1.y f32[4x16] -> z f32[4x16] 15.0 us 1, waits for 2\n",
        "launch h.1.w cleave_sgd: -> h.1.w f32[16x16]"})
    CHECK_THAT(squeezed(*text), Contains(line));
  CHECK_THAT(squeezed(*text), Contains("at instruction for what predicted queue\n"));
  CHECK_THAT(squeezed(*text), Contains("at instruction for what predicted\n")); // one queue
}

TEST_CASE("a rank that the plan has not is the user's mistake") {
  Result<std::string> text = dump::programView(smallPlan(), 4);
  REQUIRE_FALSE(text);
  CHECK(text.status().exitCode() == 1);
  CHECK(text.status().message() ==
        "found rank 4, but the plan is for 4 ranks: give one from 0 to 3");
}

TEST_CASE("a plan does not differ from itself") {
  CHECK_THAT(dump::diffView(smallPlan(), "a", smallPlan(), "b"),
             Contains("No instruction, layout, recomputation or buffer differs.\n"));
}

TEST_CASE("the difference of two plans folds blocks and sorts by the share of the difference") {
  plan::Plan after = smallPlan();
  plan::Program &program = *after.mutable_programs(0);
  for (int i : {1, 2}) // both products
    program.mutable_segments(0)->mutable_instructions(i)->set_seconds(3e-6);
  program.mutable_segments(0)->mutable_instructions(3)->set_seconds(5e-6);
  for (int i : {1, 2}) // h.0.w and h.1.w
    after.mutable_tensors(i)->mutable_sharding(0)->add_axes(1);
  program.mutable_buffers(3)->set_bytes(512);
  after.mutable_predicted()->set_step_seconds(0.000028);
  plan::Decision &recomputed = *after.add_decisions();
  recomputed.set_name("h.0.y"), recomputed.set_kind("recompute"), recomputed.set_seconds(1e-6);
  const std::string text = squeezed(dump::diffView(smallPlan(), "a.plan", after, "b.plan"));
  INFO(text);
  for (const char *line :
       {"step 44.0 us 28.0 us -36.4 %\n", "mesh dp=2,tp=2 dp=2,tp=2\n",
        // 2 micro-batches: 20 us less beside 4 us more
        "sum (all-reduce over dp) 30.0 us 10.0 us -20.0 us 83.3 %\n",
        "h.{0,1}.product (matmul) 8.00 us 12.0 us +4.00 us 16.7 %\n",
        "all-reduce over dp (2 ranks) 2 2 512 B 512 B -20.0 us 100.0 %\n",
        "h.{0,1}.w x2 [_, _] [tp=2, _] -1.00 KiB\n", "h.0.y not kept recomputed +1.00 us\n",
        "h.0.w.momentum (state) 1.00 KiB 512 B -512 B 100.0 %\n"})
    CHECK_THAT(text, Contains(line));
  CHECK(text.find("sum (all-reduce") < text.find("h.{0,1}.product (matmul)"));
}

TEST_CASE("equal names of axes of different sizes are a difference") {
  plan::Plan after = smallPlan();
  after.mutable_mesh(0)->set_size(4);
  CHECK_THAT(squeezed(dump::diffView(smallPlan(), "a", after, "b")),
             Contains("x [dp=2, _] [dp=4, _] -128 B\n"));
}

TEST_CASE("plans of different models are told") {
  plan::Plan other = smallPlan();
  other.mutable_source()->set_sha256("11");
  CHECK_THAT(dump::diffView(smallPlan(), "a", other, "b"), Contains("different model files"));
}

TEST_CASE("recompute decisions on repeated blocks share a row") {
  plan::Plan plan = smallPlan();
  CHECK_THAT(dump::rematView(plan), Contains("Nothing is kept or recomputed"));
  for (const char *name : {"h.0.gelu", "h.1.gelu"}) {
    plan::Decision &decision = *plan.add_decisions();
    decision.set_name(name), decision.set_kind("kept");
    decision.set_choice("4.00 KiB kept during 40.0 % of the step");
    decision.add_alternatives()->set_seconds(2e-6);
    decision.set_bytes(4096);
  }
  CHECK_THAT(squeezed(dump::rematView(plan)), Contains("h.{0,1}.gelu 2 8.00 KiB 4.00 us 524 ms\n"));
  CHECK_THAT(dump::summary(plan, "p"), !Contains("gelu"));
  CHECK_THAT(*dump::explain(plan, "h.0.gelu"), Contains("kept during 40.0 % of the step"));
}

TEST_CASE("explain gathers decision, alternatives, state, place and uses of one name") {
  Result<std::string> text = dump::explain(smallPlan(), "h.0.w");
  REQUIRE(text);
  for (const char *line :
       {"parameter: f32[16x16], layout [_, _], 1.00 KiB in all, 1.00 KiB on one rank\n",
        "its optimizer state: h.0.w.momentum [_, _], 1.00 KiB on one rank\n", "+10.0 us [dp, _]\n",
        "h.0.w f32[16x16] parameter 1.00 KiB 256 0 8\n", "matmul h.0.product", "launch h.0.w"})
    CHECK_THAT(squeezed(*text), Contains(line));
}

TEST_CASE("explain offers the nearest names for one that is unknown") {
  Result<std::string> text = dump::explain(smallPlan(), "h.2.w");
  REQUIRE_FALSE(text);
  CHECK(text.status().exitCode() == 1);
  CHECK_THAT(text.status().message(), Contains("named h.2.w; did you mean h.0.w or h.1.w?"));
}

TEST_CASE("the JSON has the fields that scripts rely on") {
  nlohmann::json json = nlohmann::json::parse(dump::json(smallPlan()));
  CHECK(json["mesh"] == nlohmann::json{{"dp", 2}, {"tp", 2}});
  CHECK(json["ranks"] == 4);
  CHECK(json["predicted"]["step_seconds"] == 0.000044);
  CHECK(json["predicted"]["bound_seconds"] == 0.00004);
  CHECK(json["predicted"]["peak_bytes"] == 3584);
  CHECK(json["predicted"]["gap"] == 0.0909);
  REQUIRE(json["decisions"].size() == 4);
  CHECK(json["decisions"][0]["name"] == "h.0.w");
  CHECK(json["decisions"][0]["kind"] == "parameter");
  CHECK(json["decisions"][0]["alternatives"][0]["choice"] == "[dp, _]");
  CHECK(json["tensors"][0]["sharding"] == nlohmann::json::array({{"dp"}, nlohmann::json::array()}));
  CHECK(json["programs"][0]["collectives"][0]["group_size"] == 2);
  CHECK(json["objection"] == "");
}

// The JSON in a page.
static nlohmann::json dataOf(const std::string &page) {
  const std::string mark = "type=\"application/json\">";
  const size_t begin = page.find(mark) + mark.size();
  return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST_CASE("the page has the plan with every instruction and buffer, and names cannot break it") {
  plan::Plan plan = smallPlan();
  const std::string name = "a</script><b>@DATA@";
  plan.mutable_tensors(0)->set_name(name);
  const std::string page = dump::htmlView(plan, "<@DATA@>.plan");
  CHECK_THAT(page, Contains("<title>&lt;&#64;DATA&#64;>.plan: training of two.onnx on 4 ranks") &&
                       !Contains("@STYLE@") && !Contains("src="));
  const nlohmann::json json = dataOf(page), program = json["programs"][0];
  CHECK(json["tensors"][0]["name"] == name);
  CHECK(program["blocks"].size() == size_t(plan.programs(0).buffers_size()));
  REQUIRE(program["segments"].size() == size_t(plan.programs(0).segments_size()));
  for (int s = 0; s < plan.programs(0).segments_size(); ++s)
    CHECK(program["segments"][s]["instructions"].size() ==
          size_t(plan.programs(0).segments(s).instructions_size()));
  CHECK(program["segments"][0]["runs"] == 2);
}

// The begins of the instructions of a segment in a page, in microseconds.
static std::vector<double> beginsIn(const nlohmann::json &segment) {
  std::vector<double> begins;
  for (const nlohmann::json &row : segment["instructions"])
    begins.push_back(std::round(row[3].get<double>() * 1e6));
  return begins;
}

TEST_CASE("the page has the times of the simulated step, each segment once") {
  plan::Plan plan = smallPlan();
  const nlohmann::json json = dataOf(dump::htmlView(plan, "small.plan")),
                       program = json["programs"][0];
  CHECK(beginsIn(program["segments"][0]) == std::vector<double>{0, 1, 3, 5, 20, 20, 21});
  CHECK(beginsIn(program["segments"][1]) == std::vector<double>{21, 22});
  CHECK(program["segments"][1]["begin"].get<double>() == Approx(21e-6));
  REQUIRE(program["exposed"].size() == 1);
  CHECK(program["exposed"][0][0].get<double>() == Approx(5e-6));
  CHECK(program["exposed"][0][1].get<double>() == Approx(20e-6));
  CHECK(json["communication"]["seconds"].get<double>() == Approx(30e-6)); // of both runs
  CHECK(json["communication"]["exposed"].get<double>() == Approx(30e-6));

  plan.mutable_programs(0)->mutable_segments(0)->mutable_instructions(1)->set_seconds(-1);
  const nlohmann::json broken = dataOf(dump::htmlView(plan, "small.plan"));
  CHECK(beginsIn(broken["programs"][0]["segments"][1]) == std::vector<double>{0, 0});
}

TEST_CASE("the trace has every run of all ranks") {
  const Result<std::string> trace = dump::traceView(smallPlan());
  REQUIRE(trace);
  int tasks = 0;
  const nlohmann::json json = nlohmann::json::parse(*trace);
  for (const nlohmann::json &event : json["traceEvents"])
    tasks += event["ph"] == "X";
  CHECK(tasks == 4 * (2 * 5 + 2)); // but those of 0 seconds

  plan::Plan broken = smallPlan();
  broken.mutable_programs(0)->mutable_segments(1)->mutable_instructions(0)->set_seconds(-1);
  CHECK_THAT(dump::traceView(broken).status().message(), Contains("takes -1 seconds"));
}

TEST_CASE("a trace of too many instructions has equal ranks and segments once") {
  plan::Plan plan = smallPlan();
  const plan::ScheduleStep micro = plan.programs(0).schedule(0);
  for (int run = 0; run < 40000; ++run)
    *plan.mutable_programs(0)->add_schedule() = micro;
  const Result<std::string> trace = dump::traceView(plan);
  REQUIRE(trace);
  CHECK(trace->size() < 10000);
}

TEST_CASE("indices into nothing print as question marks") {
  plan::Plan plan = smallPlan();
  plan::Program &program = *plan.mutable_programs(0);
  for (plan::Instruction &instruction : *program.mutable_segments(0)->mutable_instructions()) {
    if (instruction.has_matmul())
      instruction.mutable_matmul()->mutable_lhs()->set_buffer(99);
    if (instruction.has_launch())
      instruction.mutable_launch()->set_kernel(99);
    if (instruction.has_collective()) {
      instruction.mutable_collective()->set_axes(0, 9);
      instruction.mutable_collective()->add_send(99);
    }
  }
  program.mutable_buffers(0)->set_tensor(99);
  program.mutable_buffers(1)->set_arena(99);
  program.mutable_buffers(2)->set_first(1000);
  program.mutable_buffers(3)->set_last(1000);
  program.mutable_schedule(0)->set_segment(99);
  plan.mutable_tensors(0)->mutable_sharding(0)->set_axes(0, 9);
  program.set_ranks(1, 99);
  Result<std::string> text = dump::programView(plan, 0);
  REQUIRE(text);
  CHECK_THAT(squeezed(*text), Contains("?99, h.0.w f32[16x16]") && Contains("over ?"));
  CHECK_FALSE(dump::programView(plan, 1));
  CHECK(dump::explain(plan, "h.0.w"));
  CHECK_THAT(dump::shardingView(plan), Contains("[?, _]"));
  CHECK_FALSE(dump::memoryView(plan).empty());
  CHECK_FALSE(dump::collectivesView(plan).empty());
  CHECK_FALSE(dump::kindsView(plan));
  CHECK_FALSE(dump::summary(plan, "p").empty());
  CHECK_FALSE(dump::json(plan).empty());
  CHECK_FALSE(dump::htmlView(plan, "p").empty());
  plan::Plan empty;
  CHECK_FALSE(dump::htmlView(empty, "p").empty());
  CHECK_FALSE(dump::summary(empty, "p").empty());
  CHECK_FALSE(dump::json(empty).empty());
  CHECK_FALSE(dump::programView(empty, 0));
  CHECK_FALSE(dump::explain(empty, "x"));
}

TEST_CASE("a plan without stages has no schedule to draw") {
  CHECK_THAT(dump::scheduleView(smallPlan()).status().message(),
             Catch::Matchers::Contains("the plan has no stages"));
}
