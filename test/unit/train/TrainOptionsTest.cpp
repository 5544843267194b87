// The text forms of losses and optimizers.
#include "passes/train/TrainOptions.h"
#include "test/unit/data/Files.h"

#include <catch2/catch.hpp>
#include <sstream>

using namespace cleave;

TEST_CASE("a loss names an output and, if need be, a label") {
  auto loss = train::parseLoss("softmax-cross-entropy:logits,labels");
  REQUIRE(loss.isOk());
  CHECK(loss->kind == train::LossOption::Kind::SoftmaxCrossEntropy);
  CHECK(loss->output == "logits");
  CHECK(loss->label == "labels");
  CHECK(train::parseLoss("mse:out")->label == "out.label");
  CHECK(train::parseLoss("output:0")->kind == train::LossOption::Kind::Output);
  CHECK(train::parseLoss("output:0")->label.empty());
}

TEST_CASE("a loss without an output is on the only one, and its label is called so") {
  CHECK(train::parseLoss("softmax-cross-entropy")->output.empty());
  CHECK(train::parseLoss("softmax-cross-entropy")->label == "label");
  CHECK(train::parseLoss("bce:pos-weight=2")->label == "label");
  CHECK(train::parseLoss("output")->label.empty());
}

TEST_CASE("options of losses are set by name, behind the names of output and label") {
  auto loss = train::parseLoss(
      "softmax-cross-entropy:a,b,label-smoothing=0.1,class-weights=1:2:.5,class-dim=1,"
      "ignore-index=0,reduction=sum,factor=0.4");
  REQUIRE(loss.isOk());
  CHECK(loss->output == "a");
  CHECK(loss->label == "b");
  CHECK(loss->smoothing == 0.1);
  CHECK(loss->classWeights == std::vector<double>{1, 2, 0.5});
  CHECK(loss->classDim == 1);
  CHECK(loss->ignored == 0);
  CHECK(loss->isSum);
  CHECK(loss->factor == 0.4);
  CHECK(train::parseLoss("huber:delta=2")->bound == 2);
  CHECK(train::parseLoss("smooth-l1:out,beta=0")->bound == 0);
}

TEST_CASE("weights may be in a text file") {
  data::Folder folder;
  const std::string path = folder / "weights.txt";
  auto weightsOf = [&](const std::string &text) {
    folder.write("weights.txt", text);
    return train::parseLoss("bce:out,pos-weight=" + path);
  };
  CHECK(weightsOf("1, 2\n0.5\n")->posWeights == std::vector<double>{1, 2, 0.5});
  CHECK(weightsOf("1 two").status().message() ==
        "`pos-weight` of the loss bce: the file " + path +
            " holds something else than numbers, expected numbers separated by blanks or commas");
  CHECK(weightsOf("").status().message() ==
        "`pos-weight` of the loss bce must be one or more numbers of at least 0, found `" + path +
            "`");
}

TEST_CASE("a loss that cannot be read says what was expected") {
  CHECK(train::parseLoss("hinge:x").status().message() ==
        "unknown loss `hinge`: expected softmax-cross-entropy, nll, bce, mse, l1, smooth-l1, huber "
        "or output");
  CHECK(train::parseLoss("mse:a,b,c").status().message() ==
        "found the loss `mse:a,b,c`, expected `mse`, `mse:OUTPUT` or `mse:OUTPUT,LABEL`, and "
        "options such as `,reduction=VALUE`");
  CHECK(train::parseLoss("mse:a,").status().kind() == StatusKind::UserError);
  CHECK(train::parseLoss("output:a,b").status().message() ==
        "found the loss `output:a,b`, expected `output`, `output:OUTPUT`, and options such as "
        "`,factor=VALUE`");
  CHECK(train::parseLoss("mse:a,delta=1").status().message() ==
        "the loss mse has no option `delta`: expected reduction or factor");
  CHECK(train::parseLoss("mse:a,reduction=none").status().message() ==
        "`reduction` of the loss mse must be mean or sum, found `none`");
  CHECK(train::parseLoss("huber:a,delta=0").status().message() ==
        "`delta` of the loss huber must be above 0, found `0`");
  CHECK(train::parseLoss("nll:class-dim=0.5").status().message() ==
        "`class-dim` of the loss nll must be an integer of at least -32 and at most 31, found "
        "`0.5`");
  CHECK(train::parseLoss("softmax-cross-entropy:label-smoothing=2").status().message() ==
        "`label-smoothing` of the loss softmax-cross-entropy must be a number of at least 0 and at "
        "most 1, found `2`");
  CHECK(train::parseLoss("bce:pos-weight=1:-2").status().message() ==
        "`pos-weight` of the loss bce must be one or more numbers of at least 0, found `1:-2`");
  CHECK(train::parseLoss("bce:pos-weight=/missing").status().kind() == StatusKind::UserError);
}

static double value(const std::string &optimizer, const char *hyperparameter) {
  return train::parseOptimizer(optimizer)->values.at(hyperparameter);
}

TEST_CASE("optimizers have PyTorch's defaults") {
  CHECK(value("adamw", "lr") == 1e-3);
  CHECK(value("adamw", "beta1") == 0.9);
  CHECK(value("adamw", "beta2") == 0.999);
  CHECK(value("adamw", "eps") == 1e-8);
  CHECK(value("adamw", "weight-decay") == 0.01);
  CHECK(value("adam", "weight-decay") == 0);
  CHECK(value("sgd", "momentum") == 0);
  CHECK(value("momentum", "momentum") == 0.9);
  CHECK(value("rmsprop", "alpha") == 0.99);
  CHECK(value("adagrad", "lr") == 0.01);
  CHECK(value("adafactor", "beta2-decay") == -0.8);
}

TEST_CASE("hyperparameters are set by name") {
  const char *sgd = "sgd:lr=0.05,momentum=0.9,nesterov,weight-decay=1e-4";
  CHECK(value(sgd, "lr") == 0.05);
  CHECK(value(sgd, "momentum") == 0.9);
  CHECK(value(sgd, "nesterov") == 1);
  CHECK(value(sgd, "weight-decay") == 1e-4);
  CHECK(value("adamw:beta1=0.8,beta2=0.95,eps=1e-6", "beta2") == 0.95);
  CHECK(value("sgd:momentum=0.9,nesterov=false", "nesterov") == 0);
  CHECK(value("adafactor:beta2-decay=-0.5", "beta2-decay") == -0.5);
}

// With groups, joined by spaces.
static std::string text(const std::string &optimizer, const std::string &groups = "",
                        std::optional<double> ema = std::nullopt) {
  train::TrainOptions options;
  options.optimizer = *train::parseOptimizer(optimizer);
  std::istringstream words(groups);
  for (std::string group; words >> group;)
    options.groups.push_back(*train::parseGroup(group, options.optimizer));
  options.ema = ema;
  return train::optimizerText(options);
}

TEST_CASE("an optimizer is written with all its options, and read back as it was") {
  CHECK(text("momentum") == "sgd:lr=0.001,momentum=0.9,dampening=0,nesterov=false,weight-decay=0");
  CHECK(text("adamw:lr=3e-4") ==
        "adamw:lr=3e-04,beta1=0.9,beta2=0.999,eps=1e-08,weight-decay=0.01,amsgrad=false");
  for (const char *option : {"sgd:lr=0.1,momentum=0.9,nesterov", "adam:beta1=0.1234567890123",
                             "adamw", "lamb", "lion", "rmsprop:centered", "adagrad", "adafactor"})
    CHECK(text(text(option)) == text(option));
}

TEST_CASE("groups and averages are written behind the optimizer") {
  CHECK(text("sgd", "no-decay head.*:lr=0.1,momentum=0.5", 0.99) ==
        text("sgd") + ";group no-decay:weight-decay=0;group head.*:lr=0.1,momentum=0.5;"
                      "ema:decay=0.99");
  CHECK(text("adamw", "no-decay:lr=0.1") ==
        text("adamw") + ";group no-decay:lr=0.1,weight-decay=0");
}

TEST_CASE("a group changes some hyperparameters of the optimizer") {
  auto optimizer = train::parseOptimizer("adamw:lr=0.5,beta1=0.8");
  auto group = train::parseGroup("a:b*:lr=0.25", *optimizer);
  REQUIRE(group.isOk());
  CHECK(group->pattern == "a:b*");
  train::Hyperparameters values = train::hyperparametersOf(*optimizer, *group);
  CHECK(values.at("lr") == 0.25);
  CHECK(values.at("beta1") == 0.8);
}

TEST_CASE("a group that cannot be read says what was expected") {
  auto refusal = [](const std::string &optimizer, const std::string &group) {
    return train::parseGroup(group, *train::parseOptimizer(optimizer)).status().message();
  };
  CHECK(refusal("adamw", "bias") ==
        "found the group `bias`, expected `GLOB:OPTION=VALUE,…` or `no-decay`");
  CHECK(refusal("adam", "*:momentum=1") == "the optimizer adam has no `momentum`: expected lr, "
                                           "beta1, beta2, eps, weight-decay or amsgrad");
  CHECK(refusal("momentum:nesterov", "*:dampening=0.5") ==
        "nesterov needs a momentum and no dampening");
}

TEST_CASE("an optimizer that cannot be read says what was expected") {
  CHECK(train::parseOptimizer("muon").status().message() ==
        "unknown optimizer `muon`: expected momentum, sgd, adam, adamw, lamb, lion, rmsprop, "
        "adagrad or adafactor");
  CHECK(train::parseOptimizer("adam:momentum=0.9").status().message() ==
        "the optimizer adam has no `momentum`: expected lr, beta1, beta2, eps, weight-decay or "
        "amsgrad");
  CHECK(train::parseOptimizer("adam:lr=fast").status().message() ==
        "`lr` of the optimizer adam must be a number of at least 0, found `fast`");
  CHECK(train::parseOptimizer("adam:beta1=1").status().message() ==
        "`beta1` of the optimizer adam must be a number of at least 0 and below 1, found `1`");
  CHECK(train::parseOptimizer("sgd:nesterov=maybe").status().message() ==
        "`nesterov` of the optimizer sgd must be true or false, found `maybe`");
  CHECK(train::parseOptimizer("sgd:nesterov").status().message() ==
        "nesterov needs a momentum and no dampening");
  CHECK(train::parseOptimizer("sgd:").status().kind() == StatusKind::UserError);
}
