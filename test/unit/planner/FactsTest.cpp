// The planner against results of other systems and closed forms. Tests of files of facts, which
// are not part of the repository, skip without them.
#include "compiler/planner/Costs.h"
#include "compiler/planner/Planner.h"
#include "compiler/planner/ReadStep.h"
#include "runtime/base/Json.h"
#include "test/unit/graph_text/GraphText.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <set>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

constexpr double kFast = 1e30; // per second: takes no time

// Null if the file is not there.
Json readFacts(const std::string &name) {
  std::ifstream file(CLEAVE_SOURCE "/../shared/facts/" + name);
  if (!file) {
    WARN("skipped: ../shared/facts/" << name << " is not there");
    return Json();
  }
  return Json::parse(file);
}

StepModel modelOf(const std::string &text) {
  GraphText parsed(text);
  auto model = readStep(parsed.function());
  INFO(parsed.diagnostics);
  REQUIRE(mlir::succeeded(model));
  return std::move(*model);
}

// Devices that take 1 / `flops` seconds per FLOP of a product, and nothing for all else.
// Collectives take `latency` seconds and 1 / `bandwidth` per byte.
cluster::Cluster plainCluster(double flops, double latency, double bandwidth) {
  cluster::Cluster cluster;
  cluster.name = "plain";
  cluster.deviceBytes = int64_t(1) << 50;
  cluster.devicesPerNode = 1024;
  cluster.compute["f32"] = {flops, {}, {}};
  cluster.vectorFlops = cluster.memoryBytesPerSecond = kFast;
  cluster::Level level{"all", 0, {}};
  for (int kind = 0; kind < cluster::kCollectiveKinds; ++kind)
    level.links[static_cast<cluster::CollectiveKind>(kind)] = {{0, latency, 0, bandwidth}};
  cluster.levels = {level};
  return cluster;
}

Plan planOn(const StepModel &model, const cluster::Cluster &cluster, const std::string &mesh) {
  PlannerOptions options;
  options.mesh = parseMesh(mesh);
  options.ranks = options.mesh->ranks();
  Result<Plan> plan = planStep(model, cluster, options);
  INFO(plan.status().message());
  REQUIRE(plan.isOk());
  return *plan;
}

int64_t splitOver(const FactorAxes &factors, const Mesh &mesh) {
  int64_t ranks = 1;
  for (const std::vector<int> &axes : factors)
    ranks *= mesh.ranksAlong(axes);
  return ranks;
}

} // namespace

TEST_CASE("where communication takes no time, every product is split over all ranks") {
  StepModel model = trainingModel(64, 32, 128);
  for (const char *mesh : {"a=4", "a=2,b=4"}) {
    Plan plan = planOn(model, plainCluster(1e9, 0, kFast), mesh);
    for (size_t op = 0; op < model.ops.size(); ++op)
      if (model.ops[op].isProduct)
        CHECK(splitOver(plan.ops[op].factors, plan.mesh) == plan.mesh.ranks());
  }
}

TEST_CASE(
    "where computing takes no time, nothing is communicated and every product is replicated") {
  StepModel model = trainingModel(64, 32, 128);
  for (const char *mesh : {"a=4", "a=2,b=4"}) {
    Plan plan = planOn(model, plainCluster(kFast, 1, 1), mesh);
    CHECK(plan.seconds == Approx(0).margin(1e-9));
    for (size_t op = 0; op < model.ops.size(); ++op)
      if (model.ops[op].isProduct)
        CHECK(splitOver(plan.ops[op].factors, plan.mesh) == 1);
  }
}

// Seconds of x (m x k) times w (k x n) on 4 ranks that hold a quarter each of the rows of x and of
// the columns of w: with all of x (split by columns), and with all of w (split by rows).
static std::pair<double, double> columnsAndRows(int64_t m, int64_t n) {
  auto shape = [](int64_t rows, int64_t columns) {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "xf32>";
  };
  constexpr int64_t k = 64;
  StepModel model =
      modelOf("func.func @step(%x: " + shape(m, k) +
              " {graph.role = \"input\", graph.name = \"x\"}, %w: " + shape(k, n) +
              " {graph.role = \"parameter\", graph.name = \"w\"}) -> (" + shape(m, n) +
              " {graph.role = \"output\", graph.name = \"y\"}) {\n"
              "%y = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : " +
              shape(m, k) + ", " + shape(k, n) + " -> " + shape(m, n) +
              "\nreturn %y : " + shape(m, n) + "\n}");
  const Mesh mesh = *parseMesh("a=4");
  const cluster::Cluster machine = plainCluster(1e9, 1e-6, 1e6);
  Costs costs(model, machine, mesh);
  const Sharding rows{{{0}, {}}, {}, {}}, columns{{{}, {0}}, {}, {}};
  std::pair<double, double> seconds{-1, -1};
  const Op &op = model.ops[0];
  for (const OpChoice &choice : enumerateOp(op, model, mesh))
    for (bool isColumns : {true, false})
      if (choice.natural[0] == (isColumns ? columns : rows) && choice.partial.empty())
        (isColumns ? seconds.first : seconds.second) =
            costs.kernels(op, choice) + costs.reshard(op.operands[0], rows, choice.operands[0]) +
            costs.reshard(op.operands[1], columns, choice.operands[1]);
  return seconds;
}

TEST_CASE("splitting columns and splitting the sequence cost the same for as many tokens as "
          "output features") {
  auto [columns, rows] = columnsAndRows(256, 256);
  CHECK(columns > 0);
  CHECK(columns == Approx(rows).epsilon(1e-12));
  CHECK(columnsAndRows(128, 256).first < columnsAndRows(128, 256).second);
  CHECK(columnsAndRows(256, 128).first > columnsAndRows(256, 128).second);
}

namespace {

// A perceptron of `layers` square weights with its gradients and the updates of its weights.
std::string perceptron(int layers, int64_t batch, int64_t width) {
  const std::string h = "tensor<" + std::to_string(batch) + "x" + std::to_string(width) + "xf32>";
  const std::string w = "tensor<" + std::to_string(width) + "x" + std::to_string(width) + "xf32>";
  std::string arguments = "%h0: " + h + " {graph.role = \"input\", graph.name = \"x\"}, %t: " + h +
                          " {graph.role = \"label\", graph.name = \"t\"}";
  std::string results, values, types, body;
  auto line = [&](const std::string &result, const std::string &op, const std::string &type) {
    body += "  %" + result + " = graph." + op + " : " + type + "\n";
  };
  auto product = [&](const std::string &result, const std::string &a, const std::string &b,
                     const std::string &dims, const std::string &type) {
    line(result, "dot_general %" + a + ", %" + b + " batch [] x [] contract " + dims, type);
  };
  for (int i = 1; i <= layers; ++i) {
    const std::string n = std::to_string(i), before = std::to_string(i - 1);
    arguments +=
        ", %w" + n + ": " + w + " {graph.role = \"parameter\", graph.name = \"w" + n + "\"}";
    results += (i > 1 ? ", " : "") + w + " {graph.role = \"parameter\", graph.name = \"w" + n +
               "\", graph.alias = " + std::to_string(i + 1) + " : i64}";
    values += (i > 1 ? ", %n" : "%n") + n;
    types += (i > 1 ? ", " : "") + w;
    product("h" + n, "h" + before, "w" + n, "[1] x [0]", h + ", " + w + " -> " + h);
  }
  line("d" + std::to_string(layers), "sub %h" + std::to_string(layers) + ", %t", h);
  for (int i = layers; i >= 1; --i) {
    const std::string n = std::to_string(i), before = std::to_string(i - 1);
    product("g" + n, "h" + before, "d" + n, "[0] x [0]", h + ", " + h + " -> " + w);
    if (i > 1)
      product("d" + before, "d" + n, "w" + n, "[1] x [1]", h + ", " + w + " -> " + h);
  }
  for (int i = 1; i <= layers; ++i) {
    const std::string n = std::to_string(i);
    line("n" + n, "sub %w" + n + ", %g" + n, w);
  }
  return "func.func @step(" + arguments + ") -> (" + results + ") {\n" + body + "  return " +
         values + " : " + types + "\n}";
}

// Alpa's prices: latency 1, 1 second per byte, and constants that break ties. `inner` ranks that
// follow each other take 0.01 seconds per byte; 1: there is no such level.
cluster::Cluster alpaCluster(int64_t inner) {
  cluster::Cluster cluster = plainCluster(1, 1, 1); // computing decides first
  auto &links = cluster.levels[0].links;
  links[cluster::CollectiveKind::AllReduce][0].latencySeconds = 1.01;
  links[cluster::CollectiveKind::AllGather][0].latencySeconds = 1.1;
  links[cluster::CollectiveKind::ReduceScatter][0].latencySeconds = 1.001;
  if (inner > 1) {
    cluster::Level level = cluster.levels[0];
    level.devices = inner;
    for (auto &[kind, entries] : level.links)
      entries[0].bytesPerSecond = 100;
    cluster.levels.insert(cluster.levels.begin(), level);
  }
  return cluster;
}

// FLOPs of all products on one of so many ranks; the seconds of computing them above.
double productFlops(const StepModel &model, int64_t ranks) {
  double flops = 0;
  for (const Op &op : model.ops)
    flops += op.isProduct ? op.flops / static_cast<double>(ranks) : 0;
  return flops;
}

} // namespace

TEST_CASE("the optimal objectives of Alpa's perceptrons are reached") {
  const Json facts = readFacts("alpa_objectives.json");
  int compared = 0;
  for (const Json &fact : facts) {
    int layers = 0;
    long batch = 0, width = 0;
    char kind[32];
    const std::string name = fact.at("case");
    if (std::sscanf(name.c_str(), "mlp%d %31s B=%ld H=%ld", &layers, kind, &batch, &width) != 4 ||
        fact.at("mesh")[0].get<int>() * fact.at("mesh")[1].get<int>() != 4 ||
        std::string(kind).rfind("force", 0) == 0)
      continue;
    StepModel model = modelOf(perceptron(layers, batch, width));
    Plan plan = planOn(model, alpaCluster(1), "a=4");
    const double computing = productFlops(model, 4);
    // The gradients of all weights are reduced in one call, not in one each.
    const bool isData = std::string(kind) == "data_parallel";
    const double joined = isData ? 1.01 * (layers - 1) : 0;
    INFO(name);
    CHECK(plan.gap == Approx(0).margin(1e-9));
    CHECK(plan.seconds - computing ==
          Approx(fact.at("expected").get<double>() - joined).margin(1e-3));
    ++compared;
  }
  CHECK((facts.is_null() || compared == 8));
}

TEST_CASE("on two axes the objectives of Alpa's perceptrons are reached or beaten") {
  const Json facts = readFacts("alpa_objectives.json");
  int compared = 0;
  for (const Json &fact : facts) {
    int layers = 0;
    long batch = 0, width = 0;
    const std::string name = fact.at("case");
    const int64_t outer = fact.at("mesh")[0], inner = fact.at("mesh")[1];
    if (std::sscanf(name.c_str(), "mlp%d 2d B=%ld H=%ld", &layers, &batch, &width) != 3 ||
        batch % outer != 0)
      continue;
    StepModel model = modelOf(perceptron(layers, batch, width));
    Plan plan = planOn(model, alpaCluster(inner),
                       "a=" + std::to_string(outer) + ",b=" + std::to_string(inner));
    const double found = plan.seconds - productFlops(model, outer * inner);
    INFO(name << ", found " << found);
    // Alpa rounds the seconds of every collective down.
    CHECK(found <= fact.at("expected").get<double>() + 2 * layers);
    CHECK(found > 0);
    ++compared;
  }
  CHECK((facts.is_null() || compared == 4));
}

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
  StepModel model = modelOf(perceptron(1, 64, 64));
  const Mesh mesh = *parseMesh("a=2,b=2");
  std::set<std::vector<Sharding>> ours; // layouts of the operands
  for (const OpChoice &choice : enumerateOp(model.ops[0], model, mesh))
    ours.insert(choice.operands);
  int compared = 0;
  for (const auto &[test, fact] : facts.items()) {
    if (test.find("linear") == std::string::npos && test.find("addmm") == std::string::npos)
      continue;
    for (const std::string strategy : fact.at("present")) {
      std::vector<std::string> operands = operandsOf(strategy);
      INFO(test << ": " << strategy);
      CHECK(ours.count({Sharding{parseLayout(operands[0]), {}, {}},
                        Sharding{parseLayout(operands[1]), {}, {}}}) == 1);
      ++compared;
    }
  }
  CHECK((facts.is_null() || compared > 60));
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
  const Mesh mesh = *parseMesh("a=2,b=2");
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
  for (const OpChoice &choice : enumerateOp(model.ops[0], model, *parseMesh("a=2,b=2"))) {
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

TEST_CASE("convolutions have every strategy of Colossal-Auto") {
  const std::set<Layouts> ours = operandLayouts(R"(
func.func @step(%x: tensor<4x4x64x64xf32> {graph.role = "input", graph.name = "x"},
    %w: tensor<16x4x3x3xf32> {graph.role = "parameter", graph.name = "w"})
    -> (tensor<4x16x62x62xf32> {graph.role = "output", graph.name = "y"}) {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>,
    pads_high = array<i64: 0, 0>, groups = 1 : i64}
    : tensor<4x4x64x64xf32>, tensor<16x4x3x3xf32> -> tensor<4x16x62x62xf32>
  return %y : tensor<4x16x62x62xf32>
})");
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
