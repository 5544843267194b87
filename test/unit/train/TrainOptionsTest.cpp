// The text forms of losses and optimizers.
#include "passes/train/TrainOptions.h"

#include <catch2/catch.hpp>

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

TEST_CASE("a loss that cannot be read says what was expected") {
  CHECK(train::parseLoss("hinge:x").status().message() ==
        "unknown loss `hinge`: expected softmax-cross-entropy, mse or output");
  CHECK(train::parseLoss("mse").status().message() ==
        "found the loss `mse`, expected `mse:OUTPUT` or `mse:OUTPUT,LABEL`");
  CHECK(train::parseLoss("mse:a,b,c").status().message() ==
        "found the loss `mse:a,b,c`, expected `mse:OUTPUT` or `mse:OUTPUT,LABEL`");
  CHECK(train::parseLoss("mse:a,").status().kind() == StatusKind::UserError);
  CHECK(train::parseLoss("output:a,b").status().message() ==
        "found the loss `output:a,b`, expected `output:OUTPUT`");
}

TEST_CASE("optimizers have PyTorch's defaults") {
  auto adamw = train::parseOptimizer("adamw");
  REQUIRE(adamw.isOk());
  CHECK(adamw->lr == 1e-3);
  CHECK(adamw->beta1 == 0.9);
  CHECK(adamw->beta2 == 0.999);
  CHECK(adamw->eps == 1e-8);
  CHECK(adamw->weightDecay == 0.01);
  CHECK(train::parseOptimizer("adam")->weightDecay == 0);
  CHECK(train::parseOptimizer("sgd")->momentum == 0);
  CHECK(train::parseOptimizer("momentum")->momentum == 0.9);
}

TEST_CASE("hyperparameters are set by name") {
  auto sgd = train::parseOptimizer("sgd:lr=0.05,momentum=0.9,nesterov,weight-decay=1e-4");
  REQUIRE(sgd.isOk());
  CHECK(sgd->lr == 0.05);
  CHECK(sgd->momentum == 0.9);
  CHECK(sgd->nesterov);
  CHECK(sgd->weightDecay == 1e-4);
  CHECK(train::parseOptimizer("adamw:beta1=0.8,beta2=0.95,eps=1e-6")->beta2 == 0.95);
  CHECK_FALSE(train::parseOptimizer("sgd:momentum=0.9,nesterov=false")->nesterov);
}

TEST_CASE("an optimizer is written with all its options, and read back as it was") {
  auto text = [](const std::string &option) {
    return train::optimizerText(*train::parseOptimizer(option));
  };
  CHECK(text("momentum") == "sgd:lr=0.001,momentum=0.9,dampening=0,nesterov=false,weight-decay=0");
  CHECK(text("adamw:lr=3e-4") ==
        "adamw:lr=3e-04,beta1=0.9,beta2=0.999,eps=1e-08,weight-decay=0.01");
  for (const char *option :
       {"sgd:lr=0.1,momentum=0.9,nesterov", "adam:beta1=0.1234567890123", "adamw"})
    CHECK(text(text(option)) == text(option));
}

TEST_CASE("an optimizer that cannot be read says what was expected") {
  CHECK(train::parseOptimizer("lion").status().message() ==
        "unknown optimizer `lion`: expected sgd, momentum, adam or adamw");
  CHECK(train::parseOptimizer("adam:momentum=0.9").status().message() ==
        "the optimizer adam has no `momentum`: expected lr, beta1, beta2, eps or weight-decay");
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
