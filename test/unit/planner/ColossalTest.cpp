// The strategies that Colossal-Auto enumerates per op on two axes of two ranks (S0: split along
// axis 0, S01: along both, R: replicated): each of them is among the choices of an op here.
#include "compiler/planner/choices/Choices.h"
#include "compiler/planner/model/ReadStep.h"
#include "passes/decompose/Decompose.h"
#include "test/unit/graph_text/GraphText.h"
#include "test/unit/planner/Facts.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

// `S0S1`, `RS01` or `[S0, R]`: per dim the axes that split it.
std::vector<std::vector<int>> parseLayout(const std::string &text) {
  std::vector<std::vector<int>> dims;
  for (char c : text)
    if (c == 'R' || c == 'S')
      dims.emplace_back();
    else if (c >= '0' && c <= '9')
      dims.back().push_back(c - '0');
  return dims;
}

// `Sb0Si1`: per letter the axes that split the factor.
void parseFactors(const std::string &text, std::map<char, std::set<int>> &axes) {
  char factor = 0;
  for (char c : text)
    if (c >= 'a' && c <= 'z')
      factor = c;
    else if (c >= '0' && c <= '9')
      axes[factor].insert(c - '0');
}

// The operands of `RESULT = A x B`, without `_0` and remarks behind.
std::vector<std::string> operandsOf(std::string text) {
  text = text.substr(0, text.find("   #"));
  text = text.substr(0, text.find('_'));
  text = text.substr(text.find("= ") + 2);
  const size_t by = text.find(" x ");
  return {text.substr(0, by), text.substr(by + 3)};
}

} // namespace

TEST_CASE("matrix products have every strategy of Colossal-Auto") {
  const Json facts = readFacts("colossalauto_strategies.json");
  StepModel model = modelOf(R"(
func.func @step(%x: tensor<64x64xf32> {graph.role = "input", graph.name = "x"},
    %w: tensor<64x64xf32> {graph.role = "parameter", graph.name = "w"})
    -> (tensor<64x64xf32> {graph.role = "output", graph.name = "y"}) {
  %y = graph.dot_general %x, %w batch [] x [] contract [1] x [0]
    : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
})");
  const Mesh mesh = *Mesh::parse("a=2,b=2");
  std::set<std::vector<Sharding>> ours; // layouts of the operands
  for (const OpChoice &choice : enumerateOp(model.ops[0], model, mesh))
    ours.insert(choice.operands);
  int compared = 0;
  for (const auto &[test, fact] : facts.items()) {
    if (test.find("linear") == std::string::npos && test.find("addmm") == std::string::npos &&
        test.find("shard_option") == std::string::npos)
      continue;
    for (const std::string strategy : fact.at("present")) {
      std::vector<std::string> operands = operandsOf(strategy);
      INFO(test << ": " << strategy);
      CHECK(ours.count({Sharding{parseLayout(operands[0]), {}, {}},
                        Sharding{parseLayout(operands[1]), {}, {}}}) == 1);
      ++compared;
    }
  }
  CHECK((facts.is_null() || compared == 140));
}

TEST_CASE("batched products have every strategy of Colossal-Auto") {
  const Json facts = readFacts("colossalauto_strategies.json");
  StepModel model = modelOf(R"(
func.func @step(%x: tensor<4x16x8xf32> {graph.role = "input", graph.name = "x"},
    %y: tensor<4x8x16xf32> {graph.role = "input", graph.name = "y"})
    -> (tensor<4x16x16xf32> {graph.role = "output", graph.name = "z"}) {
  %z = graph.dot_general %x, %y batch [0] x [0] contract [2] x [1]
    : tensor<4x16x8xf32>, tensor<4x8x16xf32> -> tensor<4x16x16xf32>
  return %z : tensor<4x16x16xf32>
})");
  // Of x: batch, i, k; of y: batch, k, j.
  std::set<std::vector<std::vector<int>>> ours; // axes of b, i, j, k
  const Mesh mesh = *Mesh::parse("a=2,b=2");
  for (const OpChoice &choice : enumerateOp(model.ops[0], model, mesh))
    ours.insert({choice.operands[0].dims[0], choice.operands[0].dims[1], choice.operands[1].dims[2],
                 choice.operands[0].dims[2]});
  int compared = 0;
  for (const auto &[test, fact] : facts.items()) {
    if (test.find("bmm") == std::string::npos || test.find("2d") == std::string::npos)
      continue;
    for (const std::string strategy : fact.at("present")) {
      std::map<char, std::set<int>> axes;
      parseFactors(strategy.substr(0, strategy.find("   #")), axes);
      std::vector<std::vector<int>> wanted;
      for (char factor : {'b', 'i', 'j', 'k'})
        wanted.emplace_back(axes[factor].begin(), axes[factor].end());
      INFO(test << ": " << strategy);
      CHECK(ours.count(wanted) == 1);
      ++compared;
    }
  }
  CHECK((facts.is_null() || compared == 14));
}

namespace {

using Layouts = std::vector<std::vector<std::vector<int>>>; // per operand and dim the axes

// The layouts of the operands in all choices of the only op of a step, on two axes of two ranks.
std::set<Layouts> operandLayouts(const std::string &text) {
  StepModel model = modelOf(text);
  std::set<Layouts> all;
  for (const OpChoice &choice : enumerateOp(model.ops[0], model, *Mesh::parse("a=2,b=2"))) {
    Layouts layouts;
    for (const Sharding &operand : choice.operands)
      layouts.push_back(operand.dims);
    all.insert(layouts);
  }
  return all;
}

// Calls `layoutsOf` with every strategy of the tests whose name contains `test`; ours must have the
// layouts that it returns. Returns how many were compared; -1 without the file.
template <typename LayoutsOf>
int compareStrategies(const std::string &test, const std::set<Layouts> &ours, LayoutsOf layoutsOf) {
  const Json facts = readFacts("colossalauto_strategies.json");
  int compared = facts.is_null() ? -1 : 0;
  for (const auto &[name, fact] : facts.items()) {
    if (name.find(test) == std::string::npos)
      continue;
    for (const std::string strategy : fact.at("present")) {
      INFO(name << ": " << strategy);
      CHECK(ours.count(layoutsOf(strategy)) == 1);
      ++compared;
    }
  }
  return compared;
}

} // namespace

const char kConvolution[] = R"(
func.func @step(%x: tensor<4x4x64x64xf32> {graph.role = "input", graph.name = "x"},
    %w: tensor<16x4x3x3xf32> {graph.role = "parameter", graph.name = "w"})
    -> (tensor<4x16x62x62xf32> {graph.role = "output", graph.name = "y"}) {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>,
    pads_high = array<i64: 0, 0>, groups = 1 : i64}
    : tensor<4x4x64x64xf32>, tensor<16x4x3x3xf32> -> tensor<4x16x62x62xf32>
  return %y : tensor<4x16x62x62xf32>
})";

TEST_CASE("convolutions have every strategy of Colossal-Auto") {
  const std::set<Layouts> ours = operandLayouts(kConvolution);
  const int compared = compareStrategies("conv_handler", ours, [](const std::string &strategy) {
    const std::vector<std::string> operands = operandsOf(strategy);
    Layouts layouts = {parseLayout(operands[0]), parseLayout(operands[1])};
    std::swap(layouts[1][0], layouts[1][1]); // theirs names the input's channels first
    for (std::vector<std::vector<int>> &dims : layouts)
      dims.resize(4);
    return layouts;
  });
  CHECK((compared < 0 || compared == 32));
}

TEST_CASE("embeddings have every strategy of Colossal-Auto") {
  const std::set<Layouts> ours = operandLayouts(R"(
func.func @step(%ids: tensor<64xi64> {graph.role = "input", graph.name = "x"},
    %table: tensor<32x16xf32> {graph.role = "parameter", graph.name = "w"})
    -> (tensor<64x16xf32> {graph.role = "output", graph.name = "y"}) {
  %y = graph.gather %table at %ids dim 0 : tensor<32x16xf32>, tensor<64xi64> -> tensor<64x16xf32>
  return %y : tensor<64x16xf32>
})");
  const int compared = compareStrategies("embedding", ours, [](const std::string &strategy) {
    const std::vector<std::string> operands = operandsOf(strategy);
    return Layouts{parseLayout(operands[1]), parseLayout(operands[0])};
  });
  CHECK((compared < 0 || compared == 38));
}

TEST_CASE("elementwise ops have every strategy of Colossal-Auto") {
  const std::set<Layouts> ours = operandLayouts(R"(
func.func @step(%x: tensor<4x4xf32> {graph.role = "input", graph.name = "x"},
    %y: tensor<4x4xf32> {graph.role = "input", graph.name = "y"})
    -> (tensor<4x4xf32> {graph.role = "output", graph.name = "z"}) {
  %z = graph.add %x, %y : tensor<4x4xf32>
  return %z : tensor<4x4xf32>
})");
  const int compared = compareStrategies("binary_elementwise", ours, [](const std::string &s) {
    const Layouts::value_type layout = parseLayout(s.substr(0, s.find('=')));
    return Layouts{layout, layout};
  });
  CHECK((compared < 0 || compared == 18));
}

TEST_CASE("softmax has every strategy of Colossal-Auto") {
  std::vector<std::set<Layouts>> ours;
  for (const char *dim : {"0", "1"})
    ours.push_back(operandLayouts(std::string(R"(
func.func @step(%x: tensor<8x16x64x32xf32> {graph.role = "input", graph.name = "x"})
    -> (tensor<8x16x64x32xf32> {graph.role = "output", graph.name = "y"}) {
  %y = graph.softmax %x dim )") + dim +
                                  R"( : tensor<8x16x64x32xf32>
  return %y : tensor<8x16x64x32xf32>
})"));
  for (const bool isSecond : {false, true}) {
    const std::string mine = isSecond ? "softmax_dim == 1" : "softmax_dim == 0";
    int counted = 0;
    const int compared =
        compareStrategies("softmax", ours[isSecond], [&](const std::string &strategy) -> Layouts {
          if (strategy.find(mine) == std::string::npos)
            return {std::vector<std::vector<int>>(4)}; // of the other dim: replicated is there
          ++counted;
          return {parseLayout(strategy.substr(0, strategy.find("->")))};
        });
    CHECK((compared < 0 || counted == 23));
  }
}

// -- ops with one operand: `[S0, R] -> [R, S0]` ---------------------------------------------------

namespace {

// A step of one op on a tensor of 8 x 16 x 64 x 64: `op` as text, with the shape of its result.
std::string oneOp(const std::string &op, const std::string &shape) {
  const std::string from = "tensor<8x16x64x64xf32>", to = "tensor<" + shape + "xf32>";
  return "func.func @step(%x: " + from + " {graph.role = \"input\", graph.name = \"x\"}) -> (" +
         to + " {graph.role = \"output\", graph.name = \"y\"}) {\n  %y = graph." + op + " : " +
         from + " -> " + to + "\n  return %y : " + to + "\n}";
}

// Layouts of operand and result in all choices of the only op of a step whose result is complete.
std::set<Layouts> layoutsFromTo(const std::string &text) {
  StepModel model = modelOf(text);
  std::set<Layouts> all;
  for (const OpChoice &choice : enumerateOp(model.ops[0], model, *Mesh::parse("a=2,b=2")))
    if (choice.natural[0].partial.empty())
      all.insert({choice.operands[0].dims, choice.natural[0].dims});
  return all;
}

// Operand and result of `[S0, R] -> [R, S0]_3   # under: …`. Where the result is "FULLY
// REPLICATED", Colossal-Auto gathers the operand first.
Layouts fromTo(const std::string &strategy, size_t resultDims) {
  const std::string text = strategy.substr(0, strategy.find("   #"));
  const size_t arrow = text.find(" -> ");
  const std::string result = text.substr(arrow + 4, text.rfind('_') - arrow - 4);
  if (result == "FULLY REPLICATED")
    return {Layouts::value_type(4), Layouts::value_type(resultDims)};
  return {parseLayout(text.substr(0, arrow)), parseLayout(result)};
}

// Compares the strategies whose remark contains `key` with an op on a tensor of four dims. Returns
// how many these are; -1 without the file.
int compareOneOp(const std::string &test, const std::string &key, const std::string &op,
                 const std::string &shape) {
  const std::set<Layouts> ours = layoutsFromTo(oneOp(op, shape));
  const size_t dims = ours.begin()->at(1).size();
  const Json facts = readFacts("colossalauto_strategies.json");
  int compared = facts.is_null() ? -1 : 0;
  for (const auto &[name, fact] : facts.items())
    for (const std::string strategy : fact.at("present"))
      if (name.find(test) != std::string::npos && strategy.find(key) != std::string::npos) {
        INFO(op << ": " << strategy);
        CHECK(ours.count(fromTo(strategy, dims)) == 1);
        ++compared;
      }
  return compared;
}

} // namespace

TEST_CASE("sums have every strategy of Colossal-Auto") {
  for (const auto &[dims, shape] : {std::pair<std::string, std::string>("(0, 2)", "16x64"),
                                    std::pair<std::string, std::string>("1", "8x64x64")}) {
    const std::string over = dims == "1" ? "[1]" : "[0, 2]";
    const int compared =
        compareOneOp("sum_handler", "sum_dims == " + dims + " and keepdim == False",
                     "reduce sum %x over " + over, shape);
    CHECK((compared < 0 || compared == 24));
  }
}

TEST_CASE("views have every strategy of Colossal-Auto") {
  for (const auto &[text, shape] :
       {std::pair<std::string, std::string>("(32, 4, 64, 16, 4)", "32x4x64x16x4"),
        std::pair<std::string, std::string>("(8, 4, 4, 64, 16, 4)", "8x4x4x64x16x4")}) {
    const int compared =
        compareOneOp("view_handler.py", "tgt_shape == " + text, "reshape %x", shape);
    CHECK((compared < 0 || compared == 39));
  }
}

TEST_CASE("permutations have every strategy of Colossal-Auto") {
  for (const auto &[key, by, shape] : {std::tuple<std::string, std::string, std::string>(
                                           "reshape_dims in", "[0, 2, 1, 3]", "8x64x16x64"),
                                       {"== ((0, 2, 1, 3)", "[0, 2, 1, 3]", "8x64x16x64"},
                                       {"== (2, 0, 1, 3)", "[2, 0, 1, 3]", "64x8x16x64"},
                                       {"== (1, 3)", "[0, 3, 2, 1]", "8x64x64x16"}}) {
    const int compared = compareOneOp("permute_and_transpose", key, "transpose %x by " + by, shape);
    CHECK((compared < 0 || compared > 15));
  }
}

TEST_CASE("splits have every strategy of Colossal-Auto") {
  const std::set<Layouts> rows = layoutsFromTo(oneOp("slice %x dim 0 from 0 step 1", "4x16x64x64"));
  const std::set<Layouts> columns =
      layoutsFromTo(oneOp("slice %x dim 1 from 0 step 1", "8x8x64x64"));
  const Json facts = readFacts("colossalauto_strategies.json");
  int compared = 0;
  for (const auto &[name, fact] : facts.items()) {
    if (name.find("test_split_handler") == std::string::npos)
      continue;
    for (const std::string strategy : fact.at("present")) {
      const Layouts::value_type layout = parseLayout(strategy.substr(0, strategy.find(']')));
      INFO(strategy);
      // A dim that is split over ranks is not the one of which pieces are taken.
      CHECK((layout[0].empty() ? rows : columns).count({layout, layout}) == 1);
      if (layout[0].empty() && layout[1].empty())
        CHECK(columns.count({layout, layout}) == 1);
      ++compared;
    }
  }
  CHECK((facts.is_null() || compared == 78));
}

// -- norms ----------------------------------------------------------------------------------------

TEST_CASE("layer norms have every strategy of Colossal-Auto") {
  const std::set<Layouts> ours = operandLayouts(R"(
func.func @step(%x: tensor<4x16xf32> {graph.role = "input", graph.name = "x"},
    %s: tensor<16xf32> {graph.role = "parameter", graph.name = "s"},
    %b: tensor<16xf32> {graph.role = "parameter", graph.name = "b"})
    -> (tensor<4x16xf32> {graph.role = "output", graph.name = "y"}) {
  %y = graph.layer_norm %x, %s, %b {epsilon = 0.5 : f64} : tensor<4x16xf32>, tensor<16xf32>, tensor<16xf32>
  return %y : tensor<4x16xf32>
})");
  const int compared = compareStrategies("layer_norm", ours, [](const std::string &strategy) {
    const std::vector<std::string> operands = operandsOf(strategy);
    return Layouts{parseLayout(operands[0]), parseLayout(operands[1]), parseLayout(operands[1])};
  });
  CHECK((compared < 0 || compared == 4));
}

namespace {

// Whether an op has a choice in which each of its values of four dims has one layout, and each of
// as many elements as channels, the size of dim 1, has the layout of that dim.
bool runsIn(const Op &op, const StepModel &model, const Layouts::value_type &layout) {
  auto matches = [&](const std::vector<int> &values, const std::vector<Sharding> &layouts) {
    for (size_t i = 0; i < values.size(); ++i) {
      const std::vector<int64_t> &shape = model.values[values[i]].shape;
      for (size_t dim = 0; dim < shape.size(); ++dim) {
        const size_t inWhole = shape.size() == 4 ? dim : 1;
        if (shape[dim] > 1 && layouts[i].dims[dim] != layout[inWhole])
          return false;
      }
    }
    return true;
  };
  const std::vector<OpChoice> choices = enumerateOp(op, model, *Mesh::parse("a=2,b=2"));
  return std::any_of(choices.begin(), choices.end(), [&](const OpChoice &choice) {
    return matches(op.operands, choice.operands) && matches(op.results, choice.natural);
  });
}

} // namespace

TEST_CASE("batch norms have every strategy of Colossal-Auto, with statistics over all ranks") {
  GraphText text(R"(
func.func @step(%x: tensor<4x16x64x64xf32> {graph.role = "input", graph.name = "x"},
    %s: tensor<16xf32> {graph.role = "parameter", graph.name = "s"},
    %b: tensor<16xf32> {graph.role = "parameter", graph.name = "b"},
    %m: tensor<16xf32> {graph.role = "state", graph.name = "m"},
    %v: tensor<16xf32> {graph.role = "state", graph.name = "v"})
    -> (tensor<4x16x64x64xf32> {graph.role = "output", graph.name = "y"},
        tensor<16xf32> {graph.role = "state", graph.name = "m", graph.alias = 3 : i64},
        tensor<16xf32> {graph.role = "state", graph.name = "v", graph.alias = 4 : i64}) {
  %y:3 = graph.batch_norm %x, %s, %b running %m, %v {epsilon = 0.5 : f64, momentum = 0.25 : f64}
    : tensor<4x16x64x64xf32>, tensor<16xf32>
  return %y#0, %y#1, %y#2 : tensor<4x16x64x64xf32>, tensor<16xf32>, tensor<16xf32>
})");
  decompose::decomposeComposites(text.function());
  auto model = readStep(text.function());
  REQUIRE(mlir::succeeded(model));
  const Json facts = readFacts("colossalauto_strategies.json");
  int compared = 0;
  for (const auto &[name, fact] : facts.items()) {
    if (name.find("batch_norm") == std::string::npos)
      continue;
    for (const std::string strategy : fact.at("present")) {
      Layouts::value_type layout = parseLayout(strategy.substr(0, strategy.find(" =")));
      layout.resize(4);
      for (const Op &op : model->ops) {
        INFO(op.kind << " in " << strategy);
        CHECK(runsIn(op, *model, layout));
      }
      ++compared;
    }
  }
  CHECK((facts.is_null() || compared == 9));
}

TEST_CASE("the weight of a convolution has every layout of Colossal-Auto") {
  StepModel model = modelOf(kConvolution);
  const Mesh mesh = *Mesh::parse("a=2,b=2");
  std::vector<Sharding> wanted;
  for (const OpChoice &choice : enumerateOp(model.ops[0], model, mesh))
    wanted.push_back(choice.operands[1]);
  std::set<Layouts::value_type> ours;
  for (const ArgumentChoice &choice : enumerateArgument({16, 4, 3, 3}, mesh, wanted, true))
    ours.insert(choice.storage.dims);
  const Json facts = readFacts("colossalauto_strategies.json");
  int compared = 0;
  for (const auto &[name, fact] : facts.items()) {
    if (name.find("getattr") == std::string::npos)
      continue;
    for (const std::string strategy : fact.at("present")) {
      INFO(strategy);
      CHECK(ours.count(parseLayout(strategy.substr(strategy.find('[')))) == 1);
      ++compared;
    }
  }
  CHECK((facts.is_null() || compared == 9));
}
