// The training step of a small model: its interface, trained parameters, micro-batches, clipping,
// batch norm, and errors.
#include "compiler/interpret/Interpret.h"
#include "dialects/graph/FedArguments.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StopGradient.h"
#include "passes/train/Train.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

using namespace cleave;
using namespace cleave::test;
using namespace mlir;

// logits = x w + b, in double precision, for a batch of `batch`.
static std::string linear(int batch) {
  std::string rows = std::to_string(batch);
  std::string x = "tensor<" + rows + "x4xf64>", y = "tensor<" + rows + "x3xf64>";
  return "func.func @step(%x: " + x + R"( {graph.name = "x", graph.role = "input"},
      %w: tensor<4x3xf64> {graph.name = "fc.weight", graph.role = "parameter"},
      %b: tensor<3xf64> {graph.name = "fc.bias", graph.role = "parameter"},
      %mask: tensor<3xi64> {graph.name = "mask", graph.role = "parameter"})
    -> ()" +
         y + R"( {graph.name = "logits", graph.role = "output"}) {
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : )" +
         x + ", tensor<4x3xf64> -> " + y + R"(
  %1 = graph.broadcast %b to [1] : tensor<3xf64> -> )" +
         y + R"(
  %2 = graph.add %0, %1 : )" +
         y + R"(
  return %2 : )" +
         y + "\n}";
}

static train::TrainOptions options(const std::string &loss = "mse:logits",
                                   const std::string &optimizer = "sgd:lr=0.5") {
  train::TrainOptions options;
  options.losses = {*train::parseLoss(loss)};
  options.optimizer = *train::parseOptimizer(optimizer);
  return options;
}

static std::vector<std::string> argumentNames(func::FuncOp step) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    names.push_back(graph::argName(step, i).str() + ":" +
                    std::string(name(graph::argRole(step, i))));
  return names;
}

static std::vector<std::string> resultNames(func::FuncOp step) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    std::optional<unsigned> alias = graph::aliasOf(step, i);
    names.push_back(graph::resultName(step, i).str() + ":" +
                    std::string(name(graph::resultRole(step, i))) +
                    (alias ? "=" + graph::argName(step, *alias).str() : ""));
  }
  return names;
}

using Names = std::vector<std::string>;

TEST_CASE("the step gets labels, a counter and states, and gives loss, norm and what is new") {
  GraphText text(linear(2));
  REQUIRE(succeeded(
      train::buildTrainingStep(text.function(), options("softmax-cross-entropy:logits", "adamw"))));
  CHECK(argumentNames(text.function()) ==
        Names{"x:input", "fc.weight:parameter", "fc.bias:parameter", "mask:constant",
              "logits.label:label", "step:state", "lr:hyperparameter", "fc.weight/adam.m:state",
              "fc.weight/adam.v:state", "fc.bias/adam.m:state", "fc.bias/adam.v:state"});
  CHECK(resultNames(text.function()) ==
        Names{"loss:loss", "grad_norm:metric", "fc.weight:parameter=fc.weight",
              "fc.weight/adam.m:state=fc.weight/adam.m", "fc.weight/adam.v:state=fc.weight/adam.v",
              "fc.bias:parameter=fc.bias", "fc.bias/adam.m:state=fc.bias/adam.m",
              "fc.bias/adam.v:state=fc.bias/adam.v", "step:state=step"});
  CHECK(graph::isTrainable(text.function(), 1));
  CHECK_FALSE(graph::isTrainable(text.function(), 3));
  auto owner = text.function().getArgAttrOfType<StringAttr>(7, "graph.parameter");
  REQUIRE(owner);
  CHECK(owner.getValue() == "fc.weight");
  CHECK(graph::originOf(text.function(), 7)->fill == 0);
  CHECK(graph::originOf(text.function(), 6)->fill == 1e-3);
}

TEST_CASE("gradient descent without momentum needs no states") {
  GraphText text(linear(2));
  REQUIRE(succeeded(train::buildTrainingStep(text.function(), options())));
  CHECK(resultNames(text.function()) == Names{"loss:loss", "grad_norm:metric",
                                              "fc.weight:parameter=fc.weight",
                                              "fc.bias:parameter=fc.bias", "step:state=step"});
}

TEST_CASE("frozen parameters become constants") {
  GraphText text(linear(2));
  train::TrainOptions chosen = options();
  chosen.freeze = {"*.weight"};
  REQUIRE(succeeded(train::buildTrainingStep(text.function(), chosen)));
  CHECK(graph::argRole(text.function(), 1) == Role::Constant);
  CHECK(graph::argRole(text.function(), 2) == Role::Parameter);
  CHECK(resultNames(text.function()) ==
        Names{"loss:loss", "grad_norm:metric", "fc.bias:parameter=fc.bias", "step:state=step"});
}

TEST_CASE("only what is named trainable is trained") {
  GraphText text(linear(2));
  train::TrainOptions chosen = options();
  chosen.trainable = {"fc.w*"};
  REQUIRE(succeeded(train::buildTrainingStep(text.function(), chosen)));
  CHECK(graph::argRole(text.function(), 2) == Role::Constant);
}

TEST_CASE("a parameter that the model file freezes is trained only if it is named") {
  GraphText text(linear(2)), named(linear(2)), all(linear(2));
  graph::setFrozen(text.function(), 1);
  REQUIRE(succeeded(train::buildTrainingStep(text.function(), options())));
  CHECK(graph::argRole(text.function(), 1) == Role::Constant);
  CHECK(graph::isTrainable(text.function(), 2));
  graph::setFrozen(named.function(), 1);
  train::TrainOptions chosen = options();
  chosen.trainable = {"fc.w*"};
  REQUIRE(succeeded(train::buildTrainingStep(named.function(), chosen)));
  CHECK(graph::isTrainable(named.function(), 1));
}

TEST_CASE("a loss names an output by its number, or leaves out the only one") {
  for (const char *loss : {"mse:0,label", "mse"}) {
    GraphText text(linear(2));
    REQUIRE(succeeded(train::buildTrainingStep(text.function(), options(loss))));
    CHECK(argumentNames(text.function())[4] == "label:label");
  }
}

TEST_CASE("losses are summed and may share a label") {
  GraphText text(linear(2));
  train::TrainOptions both = options("mse:logits,y");
  both.losses.push_back(*train::parseLoss("mse:logits,y"));
  REQUIRE(succeeded(train::buildTrainingStep(text.function(), both)));
  CHECK(argumentNames(text.function())[4] == "y:label");
  CHECK(argumentNames(text.function())[5] == "step:state");
}

// Runs one step; the results by name. `inputs` are those of each micro-batch.
static std::map<std::string, Tensor> run(GraphText &text,
                                         const std::vector<std::vector<Tensor>> &inputs) {
  func::FuncOp step = text.function();
  Random random(5); // the same parameters for every variant of the step
  std::vector<Tensor> persistent;
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (!graph::isFed(step, i)) {
      Type type = step.getArgument(i).getType();
      bool isParameter = graph::argRole(step, i) == Role::Parameter;
      persistent.push_back(isParameter ? randomTensor(type, random)
                                       : Tensor(graph::toElementType(graph::elementTypeOf(type)),
                                                graph::staticShapeOf(type),
                                                graph::originOf(step, i)->fill));
    }
  auto results = interpret::runStep(step, persistent, inputs);
  INFO(results.status().message());
  REQUIRE(results.isOk());
  std::map<std::string, Tensor> byName;
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    byName[graph::resultName(step, i).str()] = (*results)[i];
  return byName;
}

static Tensor matrix(int64_t rows, int64_t columns, unsigned seed) {
  Tensor tensor(ElementType::F64, {rows, columns});
  Random random(seed);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.set(i, static_cast<double>(random()) / 0x1p32);
  return tensor;
}

static Tensor rows(const Tensor &tensor, int64_t begin, int64_t count) {
  Tensor part(tensor.type, {count, tensor.shape[1]});
  std::copy_n(tensor.values.begin() + begin * tensor.shape[1], part.size(), part.values.begin());
  return part;
}

TEST_CASE("micro-batches give what the whole batch gives") {
  GraphText whole(linear(6)), parts(linear(2));
  train::TrainOptions chosen = options("mse:logits", "adamw:lr=0.1");
  REQUIRE(succeeded(train::buildTrainingStep(whole.function(), chosen)));
  chosen.accumulate = 3;
  REQUIRE(succeeded(train::buildTrainingStep(parts.function(), chosen)));
  Tensor x = matrix(6, 4, 1), y = matrix(6, 3, 2);
  std::vector<std::vector<Tensor>> microBatches;
  for (int64_t i = 0; i < 6; i += 2)
    microBatches.push_back({rows(x, i, 2), rows(y, i, 2)});
  auto expected = run(whole, {{x, y}}), found = run(parts, microBatches);
  for (const auto &[name, tensor] : expected) {
    INFO(name);
    CHECK(difference(tensor, found[name]) < 1e-12);
  }
}

TEST_CASE("clipping scales the gradients down to the norm, which is reported as it was") {
  GraphText plain(linear(2)), clipped(linear(2));
  train::TrainOptions chosen = options();
  REQUIRE(succeeded(train::buildTrainingStep(plain.function(), chosen)));
  chosen.clipNorm = 0.25;
  REQUIRE(succeeded(train::buildTrainingStep(clipped.function(), chosen)));
  Tensor x = matrix(2, 4, 1), y = matrix(2, 3, 2);
  auto before = run(plain, {{x, y}}), after = run(clipped, {{x, y}});
  double norm = before["grad_norm"].values[0];
  REQUIRE(norm > 0.25);
  CHECK(after["grad_norm"].values[0] == norm);
  Random random(5);
  Tensor weight = randomTensor(plain.function().getArgument(1).getType(), random);
  for (int64_t i = 0; i < weight.size(); ++i) {
    double full = before["fc.weight"].values[i] - weight.values[i],
           less = after["fc.weight"].values[i] - weight.values[i];
    CHECK(less == Approx(full * 0.25 / (norm + 1e-6)));
  }
}

TEST_CASE("momentum starts with the plain gradient") {
  GraphText plain(linear(2)), momentum(linear(2));
  REQUIRE(
      succeeded(train::buildTrainingStep(plain.function(), options("mse:logits", "sgd:lr=0.5"))));
  REQUIRE(succeeded(train::buildTrainingStep(
      momentum.function(), options("mse:logits", "sgd:lr=0.5,momentum=0.9,dampening=0.5"))));
  Tensor x = matrix(2, 4, 1), y = matrix(2, 3, 2);
  CHECK(difference(run(plain, {{x, y}})["fc.weight"], run(momentum, {{x, y}})["fc.weight"]) <
        1e-14);
}

// The value of a hyperparameter's argument in a run that does not set it.
static double valueOf(func::FuncOp step, const std::string &name) {
  std::optional<unsigned> argument = graph::argNamed(step, name);
  REQUIRE(argument);
  return graph::originOf(step, *argument)->fill;
}

TEST_CASE("a parameter is updated as the first group says that chooses it") {
  GraphText text(linear(2));
  train::TrainOptions chosen = options("mse:logits", "sgd:lr=0.5,weight-decay=0.25");
  for (const char *group : {"no-decay", "*.bias:lr=0", "*:lr=0.125"})
    chosen.groups.push_back(*train::parseGroup(group, chosen.optimizer));
  REQUIRE(succeeded(train::buildTrainingStep(text.function(), chosen)));
  CHECK(valueOf(text.function(), "lr") == 0.5); // of fc.bias
  CHECK(valueOf(text.function(), "lr/*") == 0.125);
  CHECK_FALSE(graph::argNamed(text.function(), "lr/*.bias"));
  // Each parameter as an optimizer of its own would update it.
  GraphText weight(linear(2)), bias(linear(2));
  REQUIRE(succeeded(train::buildTrainingStep(
      weight.function(), options("mse:logits", "sgd:lr=0.125,weight-decay=0.25"))));
  REQUIRE(
      succeeded(train::buildTrainingStep(bias.function(), options("mse:logits", "sgd:lr=0.5"))));
  Tensor x = matrix(2, 4, 1), y = matrix(2, 3, 2);
  auto found = run(text, {{x, y}});
  CHECK(difference(found["fc.weight"], run(weight, {{x, y}})["fc.weight"]) == 0);
  CHECK(difference(found["fc.bias"], run(bias, {{x, y}})["fc.bias"]) == 0);
}

TEST_CASE("the first moving average of a parameter is its first new value") {
  GraphText text(linear(2));
  train::TrainOptions chosen = options();
  chosen.ema = 0.75;
  REQUIRE(succeeded(train::buildTrainingStep(text.function(), chosen)));
  auto found = run(text, {{matrix(2, 4, 1), matrix(2, 3, 2)}});
  CHECK(difference(found["fc.weight"], found["fc.weight/ema"]) == 0);
}

static const char *kBatchNorm =
    R"(func.func @step(%x: tensor<4x2xf64> {graph.name = "x", graph.role = "input"},
      %s: tensor<2xf64> {graph.name = "s", graph.role = "parameter"},
      %b: tensor<2xf64> {graph.name = "b", graph.role = "parameter"},
      %m: tensor<2xf64> {graph.name = "m", graph.role = "state"},
      %v: tensor<2xf64> {graph.name = "v", graph.role = "state"})
    -> (tensor<4x2xf64> {graph.name = "y", graph.role = "output"},
        tensor<2xf64> {graph.name = "m", graph.role = "state", graph.alias = 3 : i64},
        tensor<2xf64> {graph.name = "v", graph.role = "state", graph.alias = 4 : i64}) {
  %y, %nm, %nv = graph.batch_norm %x, %s, %b running %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64}
    : tensor<4x2xf64>, tensor<2xf64>
  return %y, %nm, %nv : tensor<4x2xf64>, tensor<2xf64>, tensor<2xf64>
})";

TEST_CASE("running statistics stay states of the step") {
  GraphText text(kBatchNorm);
  REQUIRE(succeeded(train::buildTrainingStep(text.function(), options("mse:y"))));
  CHECK(resultNames(text.function()) == Names{"m:state=m", "v:state=v", "loss:loss",
                                              "grad_norm:metric", "s:parameter=s", "b:parameter=b",
                                              "step:state=step"});
}

TEST_CASE("frozen batch norms normalise by their running statistics and keep them") {
  GraphText text(kBatchNorm);
  train::freezeBatchNorm(text.function());
  CHECK(argumentNames(text.function()) ==
        Names{"x:input", "s:parameter", "b:parameter", "m:constant", "v:constant"});
  CHECK(resultNames(text.function()) == Names{"y:output"});
  Random random(1);
  std::vector<Tensor> args = randomArguments(text.function(), random, 0.5, 2);
  auto results = interpret::run(text.function(), args);
  REQUIRE(results.isOk());
  for (int64_t i = 0; i < 8; ++i) {
    int64_t c = i % 2;
    double unit = (args[0].values[i] - args[3].values[c]) / std::sqrt(args[4].values[c] + 1e-5);
    CHECK((*results)[0].values[i] == Approx(unit * args[1].values[c] + args[2].values[c]));
  }
}

// The error message of options that are refused.
static std::string refusal(const std::string &program, const train::TrainOptions &chosen) {
  GraphText text(program);
  CHECK(failed(train::buildTrainingStep(text.function(), chosen)));
  return text.diagnostics;
}

TEST_CASE("mistakes are told with what there is") {
  CHECK(refusal(linear(2), options("mse:out")) ==
        "the loss names the output `out`, which the model does not have: expected logits\n");
  CHECK(refusal(linear(2), options("mse:logits,x")) ==
        "the label `x` would be a new input of type 'tensor<2x3xf64>', but that name is taken; "
        "choose another one: KIND:OUTPUT,LABEL\n"
        "the input `x` has type 'tensor<2x4xf64>'\n");
  CHECK(refusal(linear(2), options("output:logits")) ==
        "the loss output:logits needs a single number, but that output is 'tensor<2x3xf64>'\n"
        "the output is computed here\n");
  CHECK(refusal(linear(2), options("mse:1")) ==
        "the loss names the output `1`, which the model does not have: expected logits\n");
  CHECK(refusal(linear(2), options("nll:logits,class-dim=2")) ==
        "nll needs an output with a batch and classes as its dim 2, but `logits` is "
        "'tensor<2x3xf64>'\nthe output is computed here\n");
  CHECK(refusal(linear(2), options("nll:logits,class-weights=1:2")) ==
        "the loss nll of `logits` has weights [2], expected one per class, 3\n");
  CHECK(
      refusal(linear(2), options("bce:logits,pos-weight=1:2")) ==
      "the loss bce of `logits` has 2 numbers as pos-weight, expected 1 or one for each element of "
      "its last dim, 3\n");
  CHECK(refusal(R"(func.func @step(%x: tensor<2x3xf64> {graph.name = "x", graph.role = "parameter"})
    -> (tensor<2x3xf64> {graph.name = "logits", graph.role = "output"},
        tensor<2x3xf64> {graph.name = "aux", graph.role = "output"}) {
  return %x, %x : tensor<2x3xf64>, tensor<2x3xf64>
})",
                options("mse")) ==
        "the loss names no output, but the model has several: logits, aux; choose one: "
        "KIND:OUTPUT\n");
  train::TrainOptions chosen = options();
  chosen.freeze = {"conv*"};
  CHECK(refusal(linear(2), chosen) == "--freeze `conv*` matches no parameter of the model; it has "
                                      "mask, fc.bias, fc.weight\n");
  chosen.freeze.clear();
  chosen.groups = {{"conv*", {}}};
  CHECK(refusal(linear(2), chosen) ==
        "--optimizer-group `conv*` matches no parameter of the model; it has mask, fc.bias, "
        "fc.weight\n");
  chosen.groups.clear();
  chosen.freeze = {"*"};
  CHECK(refusal(linear(2), chosen) ==
        "there is nothing to train: the loss depends on no trainable parameter\n");
  std::string constants = linear(2);
  for (size_t at; (at = constants.find("\"parameter\"")) != std::string::npos;)
    constants.replace(at, 11, "\"constant\"");
  CHECK(refusal(constants, options()) ==
        "there is nothing to train: the model has no parameters, only constants; export it with "
        "its weights as parameters\n");
  chosen.freeze.clear();
  chosen.trainable = {"*"};
  CHECK(refusal(constants, chosen) ==
        "--trainable `*` matches no parameter of the model, which has none\n");
  chosen = options();
  chosen.losses.clear();
  CHECK(refusal(linear(2), chosen) ==
        "training needs at least one loss, given as KIND[:OUTPUT[,LABEL]]\n");
}
// A step with dropout: the masks of several steps, as the zero elements of the first gradient.
static std::string dropout() {
  return R"(func.func @step(%x: tensor<40x25xf32> {graph.name = "x", graph.role = "input"},
      %w: tensor<40x25xf32> {graph.name = "w", graph.role = "parameter"})
    -> (tensor<40x25xf32> {graph.name = "y", graph.role = "output"}) {
  %0 = graph.mul %x, %w : tensor<40x25xf32>
  %1 = graph.dropout %0 {rate = 2.5e-1 : f64} : tensor<40x25xf32>
  return %1 : tensor<40x25xf32>
})";
}

TEST_CASE("dropout drops another random part in every step and scales the rest") {
  GraphText text(dropout());
  train::TrainOptions chosen = options("mse:y", "sgd:lr=0.5");
  REQUIRE(succeeded(train::buildTrainingStep(text.function(), chosen)));
  CHECK(argumentNames(text.function()) == Names{"x:input", "w:parameter",
                                                "dropout.micro_batch:state", "y.label:label",
                                                "step:state", "lr:hyperparameter"});
  Tensor ones(ElementType::F32, {40, 25}, 1), zeros(ElementType::F32, {40, 25}, 0);
  std::vector<std::vector<double>> parameters;
  for (double number : {0.0, 1.0}) {
    Tensor count(ElementType::F64, {}, number), rate(ElementType::F64, {}, 0.5);
    auto results = interpret::run(text.function(),
                                  {ones, ones, count, zeros, Tensor(ElementType::F64, {}), rate});
    REQUIRE(results.isOk());
    Names names = resultNames(text.function());
    auto resultOf = [&](const std::string &name) -> const Tensor & {
      return (*results)[std::find(names.begin(), names.end(), name) - names.begin()];
    };
    CHECK(resultOf("dropout.micro_batch:state=dropout.micro_batch").values[0] == number + 1);
    parameters.push_back(resultOf("w:parameter=w").values);
    // y is 4/3 or 0: so is its mean square 16/9 times the part that is kept.
    auto unchanged = std::count(parameters.back().begin(), parameters.back().end(), 1.0);
    CHECK(std::abs(static_cast<double>(unchanged) / 1000 - 0.25) < 0.05);
    CHECK(resultOf("loss:loss").values[0] ==
          Approx(16.0 / 9 * (1 - static_cast<double>(unchanged) / 1000)));
  }
  CHECK(parameters[0] != parameters[1]);
}
