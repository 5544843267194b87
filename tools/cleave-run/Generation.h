// --prompt: a language model continues a text, one token per step. A step runs the model on
// a window of the last tokens; rank 0 draws the next token from the logits of the last position.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/comm/Communicator.h"
#include "runtime/data/BatchSource.h"
#include "runtime/executor/OutputCollector.h"
#include "tools/cleave-run/Options.h"

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace cleave::run {

class Generation {
public:
  // User errors: the plan trains, it is not that of a language model (one input of integers [batch,
  // window], one f32 output [batch, window, vocabulary]), or the prompt is not one for it.
  static Result<std::unique_ptr<Generation>> create(const plan::Plan &plan, const Options &options);

  // Hands the window to source().
  Status prepare(int64_t step);
  const data::BatchSource &source() const { return source_; }

  // Collective: appends a token, drawn on rank 0 from the outputs of the step.
  Status take(const std::vector<executor::StoredOutput> &outputs, comm::Communicator &everyone);

  // Prompt and continuation: text if tokens are bytes, else numbers with commas.
  std::string text() const;

private:
  // The sizes of a window's input, and the number of different tokens.
  struct Form {
    int output = 0; // index into Plan.tensors
    int64_t batch = 0, window = 0, vocabulary = 0;
  };
  static Result<Form> formOf(const plan::Plan &plan);

  Generation(const plan::Plan &plan, const Options &options, Form form);
  Status readPrompt(const std::string &prompt);
  int64_t draw(const float *logits);
  bool isOfBytes() const { return form_.vocabulary == 256; }

  const plan::Plan &plan_;
  Form form_;
  double temperature_;
  std::string inputName_;
  data::BatchSource source_;
  std::vector<int64_t> tokens_; // prompt and continuation
  std::mt19937_64 random_;
};

} // namespace cleave::run
