// See Generation.h.
#include "tools/cleave-run/Generation.h"

#include "runtime/executor/Executor.h"
#include "tools/cleave-run/Gather.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

namespace cleave::run {

Generation::Generation(const plan::Plan &plan, const Options &options, Form form)
    : plan_(plan), form_(form), temperature_(options.temperature),
      inputName_(executor::inputsOf(plan)[0].name),
      source_(executor::inputsOf(plan), "the window of --prompt"), random_(options.seed) {}

Result<std::unique_ptr<Generation>> Generation::create(const plan::Plan &plan,
                                                       const Options &options) {
  if (plan.trains())
    return Status::userError(
        "--prompt: the plan trains; compile the model without --train, and give "
        "the trained weights with --weights");
  auto form = formOf(plan);
  if (!form)
    return form.status();
  std::unique_ptr<Generation> generation(new Generation(plan, options, *form));
  CLEAVE_TRY(generation->readPrompt(options.prompt));
  return generation;
}

Result<Generation::Form> Generation::formOf(const plan::Plan &plan) {
  Form form;
  int outputs = 0;
  for (int i = 0; i < plan.tensors_size(); ++i)
    if (plan.tensors(i).role() == plan::OUTPUT)
      form.output = i, ++outputs;
  const std::vector<data::InputDescription> inputs = executor::inputsOf(plan);
  const bool isOne = inputs.size() == 1 && outputs == 1 && executor::slotsOf(plan) == 1;
  if (isOne && inputs[0].shape.size() == 2 && factsOf(inputs[0].dtype).kind == NumberKind::Signed) {
    const plan::Tensor &logits = plan.tensors(form.output);
    form.batch = inputs[0].shape[0], form.window = inputs[0].shape[1];
    if (logits.dtype() == plan::F32 && logits.shape_size() == 3 && logits.shape(0) == form.batch &&
        logits.shape(1) == form.window && form.batch > 0 && form.window > 0) {
      form.vocabulary = logits.shape(2);
      return form;
    }
  }
  return Status::userError("--prompt: found a model with ", inputs.size(), " inputs and ", outputs,
                           " outputs, expected a language model: one input of integers [batch, "
                           "window] and one f32 output [batch, window, vocabulary]");
}

Status Generation::readPrompt(const std::string &prompt) {
  if (isOfBytes()) {
    for (char byte : prompt)
      tokens_.push_back(static_cast<unsigned char>(byte));
  } else {
    const char *at = prompt.data(), *end = at + prompt.size();
    while (at != end) {
      int64_t token = -1;
      auto [next, error] = std::from_chars(at, end, token);
      const bool isLast = next == end;
      if (error != std::errc() || token < 0 || token >= form_.vocabulary ||
          (!isLast && (*next != ',' || next + 1 == end)))
        return Status::userError(
            "--prompt: found '", prompt, "', expected tokens from 0 to ", form_.vocabulary - 1,
            " with commas between them; only models with 256 tokens, which are "
            "bytes, take a text");
      tokens_.push_back(token);
      at = isLast ? end : next + 1;
    }
  }
  if (tokens_.empty())
    return Status::userError("--prompt is empty; give at least one token");
  return Status::ok();
}

// Writes the window as a safetensors file: the last tokens in the first row, zeros after them and
// in the other rows. In a causal model the zeros do not change the logits that are read.
Status Generation::prepare(int64_t step) {
  const int64_t count = std::min<int64_t>(form_.window, static_cast<int64_t>(tokens_.size()));
  std::vector<int64_t> window(size_t(form_.batch * form_.window), 0);
  std::copy(tokens_.end() - count, tokens_.end(), window.begin());
  const size_t bytes = window.size() * sizeof(int64_t);
  const std::string header = nlohmann::json{{inputName_,
                                             {{"dtype", "I64"},
                                              {"shape", {form_.batch, form_.window}},
                                              {"data_offsets", {0, bytes}}}}}
                                 .dump();
  const uint64_t length = header.size();
  std::string file(sizeof length + header.size() + bytes, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  std::memcpy(file.data() + sizeof length, header.data(), header.size());
  std::memcpy(file.data() + sizeof length + header.size(), window.data(), bytes);
  return source_.set(step, {std::move(file)});
}

Status Generation::take(const std::vector<executor::StoredOutput> &outputs,
                        comm::Communicator &everyone) {
  executor::OutputCollector collector(plan_, everyone);
  CLEAVE_TRY(collector.add(outputs));
  int64_t token = 0;
  if (everyone.rank() == 0) {
    const int64_t last = std::min<int64_t>(form_.window, static_cast<int64_t>(tokens_.size())) - 1;
    std::vector<float> logits(size_t(form_.vocabulary));
    std::memcpy(logits.data(),
                collector.joined(form_.output).data() +
                    size_t(last * form_.vocabulary) * sizeof(float),
                logits.size() * sizeof(float));
    token = draw(logits.data());
  }
  CLEAVE_TRY_ASSIGN(std::string drawn, fromFirst(everyone, std::to_string(token)));
  tokens_.push_back(std::strtoll(drawn.c_str(), nullptr, 10));
  return Status::ok();
}

// Draws from softmax(logits / temperature); the token with the largest logit at temperature 0.
int64_t Generation::draw(const float *logits) {
  const float *end = logits + form_.vocabulary, *best = std::max_element(logits, end);
  if (temperature_ <= 0)
    return best - logits;
  std::vector<double> sums;
  double sum = 0;
  for (const float *at = logits; at != end; ++at)
    sums.push_back(sum += std::exp((double(*at) - *best) / temperature_));
  const double place = double(random_() >> 11) * 0x1p-53 * sum;
  const auto found = std::upper_bound(sums.begin(), sums.end(), place);
  return found == sums.end() ? best - logits : found - sums.begin();
}

std::string Generation::text() const {
  std::string text;
  for (size_t i = 0; i < tokens_.size(); ++i)
    text += isOfBytes() ? std::string(1, static_cast<char>(tokens_[i]))
                        : concat(i ? "," : "", tokens_[i]);
  return text;
}

} // namespace cleave::run
