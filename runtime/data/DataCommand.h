// A command that writes micro-batches to its standard output (BatchFormat.h), read ahead by a
// thread.
#pragma once

#include "runtime/base/Status.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cleave::data {

// What to start, and what to expect of it.
struct CommandOptions {
  std::string command;                                          // for /bin/sh
  std::vector<std::pair<std::string, std::string>> environment; // added to that of this process
  size_t arrays = 1;                                            // per micro-batch
  size_t readAhead = 2;                                         // micro-batches
  // The longest time in which next() waits for a micro-batch.
  std::chrono::milliseconds patience{60000};
};

class DataCommand {
public:
  // Starts the command in a process group of its own, with empty standard input. A user error if
  // that fails.
  static Result<std::unique_ptr<DataCommand>> start(CommandOptions options);
  // Ends the command and its children.
  ~DataCommand();
  DataCommand(const DataCommand &) = delete;
  DataCommand &operator=(const DataCommand &) = delete;

  // The bytes of the next micro-batch; empty if the command has ended with exit code 0 behind the
  // one before. User errors: it failed, wrote something else, or wrote nothing for too long.
  Result<std::string> next();

private:
  explicit DataCommand(CommandOptions options) : options_(std::move(options)) {}
  void readAll();
  Result<size_t> readSome(char *to, size_t bytes);
  // What the command's end means behind a whole micro-batch.
  Status atEnd();
  // `the data command 'CMD' `, and for an ended command how it ended.
  std::string name() const;

  CommandOptions options_;
  int process_ = -1, pipe_ = -1, wake_[2] = {-1, -1}; // descriptors; wake_: ends a wait for data
  std::thread reader_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> ready_;
  Status end_;             // behind what is ready
  bool hasEnded_ = false;  // no more is read
  bool stops_ = false;     // the reader is to end
  bool hasExited_ = false; // the process was waited for
  int64_t batches_ = 0;    // read
};

} // namespace cleave::data
