// The optimal objectives in the tests of Alpa's solver: its graphs, planned at its prices. Seconds
// are compared without those of computing, which only make every product be split over all ranks.
#include "test/unit/planner/Facts.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

std::string tensor(std::initializer_list<int64_t> shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + "f32>";
}

// A step as text, line by line.
class Step {
public:
  void argument(const std::string &name, const std::string &role, const std::string &type) {
    arguments_ += std::string(count_++ ? ", " : "") + "%" + name + ": " + type +
                  " {graph.role = \"" + role + "\", graph.name = \"" + name + "\"}";
  }
  void line(const std::string &result, const std::string &op, const std::string &type) {
    body_ += "  %" + result + " = graph." + op + " : " + type + "\n";
  }
  // The result `value`; with `alias` the new value of that argument, a parameter.
  void result(const std::string &value, const std::string &type, int alias = -1) {
    results_ += (values_.empty() ? "" : ", ") + type + " {graph.role = \"" +
                (alias < 0 ? "output" : "parameter") + "\", graph.name = \"" + value + "\"" +
                (alias < 0 ? "}" : ", graph.alias = " + std::to_string(alias) + " : i64}");
    types_ += (values_.empty() ? "" : ", ") + type;
    values_ += (values_.empty() ? "%" : ", %") + value;
  }
  int arguments() const { return count_; }
  StepModel model() const {
    return modelOf("func.func @step(" + arguments_ + ") -> (" + results_ + ") {\n" + body_ +
                   "  return " + values_ + " : " + types_ + "\n}");
  }

private:
  std::string arguments_, results_, types_, values_, body_;
  int count_ = 0;
};

// A perceptron of `layers` square weights, with biases or without, with its gradients and the
// updates of its parameters.
class Perceptron {
public:
  Perceptron(int layers, int64_t batch, int64_t width, bool hasBias)
      : layers_(layers), hasBias_(hasBias), h_(tensor({batch, width})), w_(tensor({width, width})),
        b_(tensor({width})) {
    step_.argument("h0", "input", h_);
    step_.argument("t", "label", h_);
    for (int i = 1; i <= layers; ++i)
      forward(std::to_string(i), std::to_string(i - 1));
    step_.line("d" + std::to_string(layers), "sub %h" + std::to_string(layers) + ", %t", h_);
    for (int i = layers; i >= 1; --i)
      backward(std::to_string(i), std::to_string(i - 1));
    for (int i = 1, alias = 2; i <= layers; ++i) {
      update("w" + std::to_string(i), w_, alias++);
      if (hasBias)
        update("b" + std::to_string(i), b_, alias++);
    }
  }

  StepModel model() const { return step_.model(); }
  int parameters() const { return layers_ * (hasBias_ ? 2 : 1); }

private:
  void product(const std::string &result, const std::string &a, const std::string &b,
               const std::string &dims, const std::string &type) {
    step_.line(result, "dot_general %" + a + ", %" + b + " batch [] x [] contract " + dims, type);
  }
  void forward(const std::string &n, const std::string &before) {
    step_.argument("w" + n, "parameter", w_);
    product(hasBias_ ? "p" + n : "h" + n, "h" + before, "w" + n, "[1] x [0]",
            h_ + ", " + w_ + " -> " + h_);
    if (!hasBias_)
      return;
    step_.argument("b" + n, "parameter", b_);
    step_.line("r" + n, "broadcast %b" + n + " to [1]", b_ + " -> " + h_);
    step_.line("h" + n, "add %p" + n + ", %r" + n, h_);
  }
  void backward(const std::string &n, const std::string &before) {
    product("gw" + n, "h" + before, "d" + n, "[0] x [0]", h_ + ", " + h_ + " -> " + w_);
    if (hasBias_)
      step_.line("gb" + n, "reduce sum %d" + n + " over [0]", h_ + " -> " + b_);
    if (before != "0")
      product("d" + before, "d" + n, "w" + n, "[1] x [1]", h_ + ", " + w_ + " -> " + h_);
  }
  void update(const std::string &parameter, const std::string &type, int alias) {
    step_.line("n" + parameter, "sub %" + parameter + ", %g" + parameter, type);
    step_.result("n" + parameter, type, alias);
  }

  int layers_;
  bool hasBias_;
  std::string h_, w_, b_;
  Step step_;
};

// Alpa's prices: latency 1, 1 second per byte, and constants that break ties. `inner` ranks that
// follow each other take 0.01 seconds per byte; 1: there is no such level.
cluster::Cluster alpaCluster(int64_t inner, double gatherLatency = 1.1) {
  cluster::Cluster cluster = plainCluster(1, 1, 1); // computing decides first
  auto &links = cluster.levels[0].links;
  links[CollectiveKind::AllReduce][0].latencySeconds = 1.01;
  links[CollectiveKind::AllGather][0].latencySeconds = gatherLatency;
  links[CollectiveKind::ReduceScatter][0].latencySeconds = 1.001;
  if (inner > 1) {
    cluster::Level level = cluster.levels[0];
    level.devices = inner;
    for (auto &[kind, entries] : level.links)
      entries[0].bytesPerSecond = 100;
    cluster.levels.insert(cluster.levels.begin(), level);
  }
  return cluster;
}

// The seconds of a plan without those of its products.
double communication(const PlanReport &plan, const StepModel &model) {
  double seconds = plan.seconds;
  for (size_t op = 0; op < model.ops.size(); ++op)
    if (model.ops[op].work.isProduct)
      seconds -= localFlops(model.ops[op], plan.ops[op].factors, plan.mesh);
  return seconds;
}

// A perceptron of the facts: `mlp2+bias data_parallel B=1024 H=128`.
struct PerceptronCase {
  int layers = 0;
  bool hasBias = false;
  std::string kind; // `data_parallel`, `model_parallel`, `2d`
  long batch = 1024, width = 128;
};

std::optional<PerceptronCase> parsePerceptron(const std::string &name) {
  PerceptronCase found;
  char kind[32] = "";
  const std::string first = name.substr(0, name.find(' '));
  found.hasBias = first.ends_with("+bias");
  if (std::sscanf(name.c_str(),
                  found.hasBias ? "mlp%d+bias %31s B=%ld H=%ld" : "mlp%d %31s B=%ld H=%ld",
                  &found.layers, kind, &found.batch, &found.width) < 2)
    return std::nullopt;
  found.kind = kind;
  return found;
}

int64_t ranksOf(const Json &fact, int axis) { return fact.at("mesh")[axis]; }

} // namespace

TEST_CASE("the optimal objectives of Alpa's perceptrons are reached") {
  const Json facts = readFacts("alpa_objectives.json");
  int compared = 0;
  for (const Json &fact : facts) {
    const std::string name = fact.at("case");
    const std::optional<PerceptronCase> found = parsePerceptron(name);
    if (!found || found->kind == "2d")
      continue;
    const bool isForced = name.find("force") != std::string::npos;
    const Perceptron perceptron(found->layers, found->batch, found->width, found->hasBias);
    const StepModel model = perceptron.model();
    const PlanReport plan =
        planOn(model, alpaCluster(1), "a=4", isForced ? *Pins::parse("dp") : Pins());
    // The gradients of all parameters are reduced in one call, not in one each.
    const bool isData = found->kind == "data_parallel";
    const double joined = isData ? 1.01 * (perceptron.parameters() - 1) : 0;
    INFO(name);
    CHECK(plan.gap == Approx(0).margin(1e-9));
    CHECK(communication(plan, model) ==
          Approx(fact.at("expected").get<double>() - joined).margin(1e-3));
    ++compared;
  }
  CHECK((facts.is_null() || compared == 13));
}

TEST_CASE("on two axes the objectives of Alpa's perceptrons are reached or beaten") {
  const Json facts = readFacts("alpa_objectives.json");
  int compared = 0;
  for (const Json &fact : facts) {
    const std::string name = fact.at("case");
    const std::optional<PerceptronCase> found = parsePerceptron(name);
    if (!found || found->kind != "2d")
      continue;
    const int64_t outer = ranksOf(fact, 0), inner = ranksOf(fact, 1);
    const Perceptron perceptron(found->layers, found->batch, found->width, found->hasBias);
    const StepModel model = perceptron.model();
    const PlanReport plan = planOn(model, alpaCluster(inner),
                                   "a=" + std::to_string(outer) + ",b=" + std::to_string(inner));
    const double seconds = communication(plan, model);
    // Alpa divides 1024 samples by 3 without padding.
    const int64_t largest = (found->batch + outer - 1) / outer * outer;
    const double padded = fact.at("expected").get<double>() * static_cast<double>(largest) /
                          static_cast<double>(found->batch);
    INFO(name << " on " << outer << " x " << inner << ", found " << seconds);
    // Alpa rounds the seconds of every collective down.
    CHECK(seconds <= padded + 2 * perceptron.parameters());
    CHECK(seconds > 0);
    ++compared;
  }
  CHECK((facts.is_null() || compared == 9));
}

// -- products of transposed, reshaped and summed values -------------------------------------------

namespace {

constexpr double kForbiddenGather = 1e8; // seconds

// Two operands of a product, 128 x 2048 and 2048 x 128, made from arguments of other shapes.
class Product {
public:
  void operandsBy(const std::string &kind) {
    if (kind == "transpose")
      chain("transpose %P by [1, 0]", {{2048, 128}, {128, 2048}}, {{128, 2048}, {2048, 128}});
    else if (kind == "multi transpose")
      chain("transpose %P by [1, 0]", {{2048, 128}, {128, 2048}, {2048, 128}, {128, 2048}},
            {{128, 2048}, {2048, 128}, {128, 2048}, {2048, 128}});
    else if (kind == "reshape")
      chain("reshape %P", {{128, 1024, 2}, {128, 2048}}, {{1024, 2, 128}, {2048, 128}});
    else if (kind == "multi reshape")
      chain("reshape %P", {{128, 1024, 2}, {128, 2048}, {32, 4, 2048}, {128, 2048}},
            {{1024, 2, 128}, {2048, 128}, {512, 4, 128}, {2048, 128}});
    else
      chain("", {{128, 2048}}, {{2048, 128}});
  }
  void product(const std::string &result) {
    step.line(result,
              "dot_general %" + last_[0] + ", %" + last_[1] + " batch [] x [] contract [1] x [0]",
              tensor({128, 2048}) + ", " + tensor({2048, 128}) + " -> " + tensor({128, 128}));
  }
  // The product as the step's result, and with it the model.
  StepModel ending(const std::string &value) {
    step.line("out", "exp %" + value, tensor({128, 128}));
    step.result("out", tensor({128, 128}));
    return step.model();
  }

  Step step;

private:
  using Shapes = std::vector<std::vector<int64_t>>;

  static std::string typeOf(const std::vector<int64_t> &shape) {
    return shape.size() == 2 ? tensor({shape[0], shape[1]})
                             : tensor({shape[0], shape[1], shape[2]});
  }
  // `op`: with P in the place of its operand.
  void chain(const std::string &op, const Shapes &ofX, const Shapes &ofY) {
    for (int side : {0, 1}) {
      const Shapes &shapes = side ? ofY : ofX;
      std::string name = side ? "y" : "x";
      step.argument(name, "input", typeOf(shapes[0]));
      for (size_t i = 1; i < shapes.size(); ++i) {
        std::string text = op;
        text.replace(text.find('P'), 1, name);
        name += "n";
        step.line(name, text, typeOf(shapes[i - 1]) + " -> " + typeOf(shapes[i]));
      }
      last_[side] = name;
    }
  }

  std::string last_[2];
};

// The plan in which the result of every exponential has this layout; nothing is gathered.
double withResult(const StepModel &model, const std::string &mesh, const std::string &layout) {
  const Pins pins = *Pins::fromJson(R"({"pins": [{"op": "exp.*", "layout": )" + layout + "}]}");
  const PlanReport plan = planOn(model, alpaCluster(1, kForbiddenGather), mesh, pins);
  CHECK(plan.gap == Approx(0).margin(1e-9));
  return communication(plan, model);
}

// Calls compare(kind, expected, fact) for every fact of Alpa's test of attention. Returns false
// without the file.
template <typename Compare> bool forEachGraph(Compare compare) {
  const Json facts = readFacts("alpa_objectives.json");
  for (const Json &fact : facts)
    if (fact.at("source").get<std::string>().find("attention") != std::string::npos)
      compare(fact.at("case").get<std::string>(), fact.at("expected").get<double>(), fact);
  return !facts.is_null();
}

} // namespace

TEST_CASE("through transposes and reshapes a product is reduced once, as Alpa does") {
  const std::map<std::string, std::string> kinds = {{"transpose/dot 2048x128", "transpose"},
                                                    {"multi transpose", "multi transpose"},
                                                    {"reshape", "reshape"},
                                                    {"multi reshape", "multi reshape"}};
  size_t compared = 0;
  const bool isThere = forEachGraph([&](const std::string &name, double expected, const Json &) {
    const auto kind = kinds.find(name);
    if (kind == kinds.end())
      return;
    Product graph;
    graph.operandsBy(kind->second);
    graph.product("h");
    INFO(name);
    CHECK(withResult(graph.ending("h"), "a=4", "[[], []]") == Approx(expected).margin(1e-3));
    ++compared;
  });
  CHECK((!isThere || compared == kinds.size()));
}

TEST_CASE("sums of products are reduced no more often than Alpa reduces them") {
  int compared = 0;
  const bool isThere = forEachGraph([&](const std::string &name, double expected, const Json &) {
    if (name.find("allreduce simplification") == std::string::npos)
      return;
    const int products = name.find("3 dots") != std::string::npos ? 3 : 2;
    Product graph;
    graph.operandsBy("");
    for (int i = 1; i <= products; ++i)
      graph.product("h" + std::to_string(i));
    graph.step.line("s2", "add %h1, %h2", tensor({128, 128}));
    if (products == 3)
      graph.step.line("s3", "add %s2, %h3", tensor({128, 128}));
    const double found =
        withResult(graph.ending("s" + std::to_string(products)), "a=4", "[[], []]");
    INFO(name);
    CHECK(found <= expected);
    CHECK(found == Approx(expected / products).margin(1e-3)); // partial sums are added first
    ++compared;
  });
  CHECK((!isThere || compared == 2));
}

// -- attention ------------------------------------------------------------------------------------

namespace {

// The forward pass of attention with 16 heads on 4 samples of 128 tokens.
StepModel attention(int64_t width) {
  const int64_t b = 4, s = 128, heads = 16, size = width / heads;
  const std::string x = tensor({b, s, width}), rows = tensor({b * s, width});
  const std::string apart = tensor({b, s, heads, size}), swapped = tensor({b, heads, s, size});
  const std::string scores = tensor({b, heads, s, s}), weight = tensor({width, width});
  const std::string given = tensor({width, heads, size}), bias = tensor({heads, size});
  Step step;
  step.argument("x", "input", x);
  step.line("rows", "reshape %x", x + " -> " + rows);
  auto dense = [&](const std::string &name, const std::string &operand) {
    step.argument("w" + name, "parameter", given);
    step.line("v" + name, "reshape %w" + name, given + " -> " + weight);
    step.line("d" + name,
              "dot_general %" + operand + ", %v" + name + " batch [] x [] contract [1] x [0]",
              rows + ", " + weight + " -> " + rows);
  };
  for (const std::string name : {"q", "k", "v"}) {
    dense(name, "rows");
    step.argument("b" + name, "parameter", bias);
    step.line("a" + name, "reshape %d" + name, rows + " -> " + apart);
    step.line("r" + name, "broadcast %b" + name + " to [2, 3]", bias + " -> " + apart);
    step.line("s" + name, "add %a" + name + ", %r" + name, apart);
    step.line(name, "transpose %s" + name + " by [0, 2, 1, 3]", apart + " -> " + swapped);
  }
  step.line("scores", "dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3]",
            swapped + ", " + swapped + " -> " + scores);
  step.line("shares", "softmax %scores dim 3", scores);
  step.line("mixed", "dot_general %shares, %v batch [0, 1] x [0, 1] contract [3] x [2]",
            scores + ", " + swapped + " -> " + swapped);
  step.line("joined", "transpose %mixed by [0, 2, 1, 3]", swapped + " -> " + apart);
  step.line("flat", "reshape %joined", apart + " -> " + rows);
  dense("o", "flat");
  step.argument("bo", "parameter", tensor({width}));
  step.line("y", "reshape %do", rows + " -> " + x);
  step.line("ro", "broadcast %bo to [2]", tensor({width}) + " -> " + x);
  step.line("z", "add %y, %ro", x);
  step.line("out", "exp %z", x);
  step.result("out", x);
  return step.model();
}

} // namespace

TEST_CASE("attention is split by heads and reduced once, as Alpa does") {
  int compared = 0;
  const bool isThere =
      forEachGraph([&](const std::string &name, double expected, const Json &fact) {
        if (name.find("attention") == std::string::npos)
          return;
        const bool isOnTwo = ranksOf(fact, 0) > 1 && ranksOf(fact, 1) > 1;
        INFO(name);
        CHECK(withResult(attention(isOnTwo ? 2048 : 512), isOnTwo ? "a=4,b=4" : "a=4",
                         isOnTwo ? R"([["a"], [], []])" : "[[], [], []]") ==
              Approx(expected).margin(1e-3));
        ++compared;
      });
  CHECK((!isThere || compared == 3));
}
