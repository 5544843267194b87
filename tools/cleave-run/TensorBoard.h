// --tensorboard: the metrics of every step in an event file of TensorBoard.
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace cleave::run {

class TensorBoard {
public:
  TensorBoard() = default;
  ~TensorBoard();
  TensorBoard(const TensorBoard &) = delete;
  TensorBoard &operator=(const TensorBoard &) = delete;

  // Creates the folder if it is missing, and a new file in it: TensorBoard shows the files of a
  // folder as one run, so that a run that was resumed goes on in the same curves. Without a call,
  // the steps are dropped. User errors name the file and the system's reason.
  Status open(const std::string &folder);
  // Whether steps are written.
  bool isOpen() const { return file_; }
  // Writes the numbers of a step, under the tags that the Trainer of Hugging Face gives them:
  // `loss` is `train/loss`, `eval_loss` is `eval/loss`, and `lr` is `train/learning_rate`.
  Status step(int64_t step, const std::vector<std::pair<std::string, double>> &values);

private:
  Status write(const std::string &event);

  std::string path_;
  FILE *file_ = nullptr;
};

} // namespace cleave::run
