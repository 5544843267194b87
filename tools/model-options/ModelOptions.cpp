// See ModelOptions.h.
#include "tools/model-options/ModelOptions.h"

#include "tools/commandline/CommandLine.h"

namespace cleave::tools {

using driver::CompileOptions;

void addStepOptions(CLI::App &app, CompileOptions &options) {
  app.add_flag("--train", options.train, "plan training steps (default: inference)")
      ->group("Training");
  app.add_option(
         "--loss", options.losses,
         "KIND[:OUTPUT[,LABEL]][,OPTION=VALUE...]: the loss to minimise; several are summed")
      ->allow_extra_args(false)
      ->type_name("softmax-cross-entropy|nll|bce|mse|l1|smooth-l1|huber|output")
      ->group("Training");
  app.add_option("--optimizer", options.optimizer,
                 "KIND[:OPTION=VALUE,...]: the optimizer, with PyTorch's meaning")
      ->type_name("sgd|momentum|adam|adamw|lamb|lion|rmsprop|adagrad|adafactor")
      ->group("Training")
      ->capture_default_str();
  app.add_option("--optimizer-group", options.groups,
                 "GLOB:OPTION=VALUE,...: other options for these parameters; no-decay: no weight "
                 "decay of biases and norms; may be given several times")
      ->allow_extra_args(false)
      ->group("Training");
  app.add_option("--ema", options.ema,
                 "also keeps a moving average of every parameter, with this decay, for example "
                 "0.999")
      ->group("Training")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--trainable", options.trainable,
                 "globs of trained parameters (default: all that are not frozen in the file)")
      ->allow_extra_args(false)
      ->group("Training");
  app.add_option("--freeze", options.freeze, "globs of parameters that are not trained")
      ->allow_extra_args(false)
      ->group("Training");
  app.add_option("--clip-norm", options.clipNorm,
                 "maximum global norm of the gradients (default: no clipping)")
      ->group("Training")
      ->check(positive());
  app.add_option("--accumulate", options.accumulate, "micro-batches per step")
      ->group("Training")
      ->check(positive())
      ->capture_default_str();
  app.add_option("--dtype", options.dtype, "the type of products, or a file with rules for ops")
      ->type_name("f32|tf32|bf16|f16|FILE")
      ->group("Training")
      ->capture_default_str();
  app.add_option("--batch-norm", options.batchNorm,
                 "batch statistics (train) or running statistics (frozen); default: train, without "
                 "--train as in the file")
      ->group("Training")
      ->check(isOneOf({"train", "frozen"}));
}

void addModelOptions(CLI::App &app, CompileOptions &options, TypedModelOptions &typed) {
  app.add_option("MODEL", options.model, "torch.export archive, ONNX or TorchScript file")
      ->type_name("FILE")
      ->required();
  app.add_option("--set", typed.symbols,
                 "SYMBOL=N: size of a symbolic dim; batch=N: the first dims of inputs")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("Model");
  app.add_option("--value", typed.values,
                 "INPUT=1,2,3 or INPUT=red,green: makes the input a constant")
      ->allow_extra_args(false)
      ->group("Model");
  app.add_option("--tie", typed.ties, "A=B: makes two parameters one")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("Model");
  app.add_option("--untie", options.unties,
                 "A: gives every module that reads A a parameter of its own")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("Model");
  app.add_option("--input", options.inputs,
                 "NAME=TYPE[DIM,...]: type of an input, if the file does not declare it")
      ->allow_extra_args(false)
      ->group("Model");
}

// NAME=VALUE, both not empty.
static Result<std::pair<std::string, std::string>> splitPair(const std::string &text,
                                                             const std::string &option) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return Status::userError(option, ": found '", text, "', expected NAME=VALUE");
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

// Splits at commas; empty text has no words.
static std::vector<std::string> wordsOf(const std::string &text) {
  std::vector<std::string> words;
  for (size_t at = 0; !text.empty() && at <= text.size();) {
    size_t comma = std::min(text.find(',', at), text.size());
    words.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return words;
}

// The words as numbers; none if a word is not a number.
static std::optional<std::vector<double>> numbersOf(const std::vector<std::string> &words) {
  std::vector<double> numbers;
  for (const std::string &word : words) {
    char *end = nullptr;
    numbers.push_back(std::strtod(word.c_str(), &end));
    if (word.empty() || *end)
      return std::nullopt;
  }
  return numbers;
}

// INPUT=1,2,3 or INPUT=red,green; `INPUT=` is a tensor without elements.
static Status addValue(const std::string &text, CompileOptions &options) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return Status::userError("--value: found '", text, "', expected INPUT=VALUE,...");
  std::string name = text.substr(0, equals);
  options.strings[name] = wordsOf(text.substr(equals + 1));
  if (std::optional<std::vector<double>> numbers = numbersOf(options.strings[name]))
    options.values[name] = *numbers;
  return Status::ok();
}

Status checkModelOptions(const TypedModelOptions &typed, CompileOptions &options) {
  for (const std::string &text : typed.symbols) {
    CLEAVE_TRY_ASSIGN(auto pair, splitPair(text, "--set"));
    char *end = nullptr;
    long long value = std::strtoll(pair.second.c_str(), &end, 10);
    if (*end || value < 1)
      return Status::userError("--set: found '", text, "', expected a positive number after '='");
    options.symbols[pair.first] = value;
  }
  for (const std::string &text : typed.values)
    CLEAVE_TRY(addValue(text, options));
  for (const std::string &text : typed.ties) {
    CLEAVE_TRY_ASSIGN(auto pair, splitPair(text, "--tie"));
    options.ties.push_back(pair);
  }
  if (!options.train && !options.losses.empty())
    return Status::userError("--loss is given without --train; add --train to plan training steps");
  return Status::ok();
}

} // namespace cleave::tools
