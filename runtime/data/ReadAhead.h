// Images that threads decode ahead of the step that takes them. Private to this folder.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/image/Image.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace cleave::data {

// A part of a micro-batch: `rows` samples from `row` on.
struct BatchPart {
  int64_t batch = 0; // micro-batches are counted over all steps
  int64_t row = 0, rows = 0;

  bool operator==(const BatchPart &) const = default;
};

class ReadAhead {
public:
  // Decodes one sample of a micro-batch. Thread-safe.
  using Load = std::function<Result<image::Image>(int64_t batch, int64_t row)>;
  using Images = std::vector<image::Image>;

  // `threads` threads decode up to kAhead micro-batches ahead. They start with the first take().
  ReadAhead(Load load, int threads) : load_(std::move(load)), threads_(threads) {}
  ~ReadAhead();
  ReadAhead(const ReadAhead &) = delete;
  ReadAhead &operator=(const ReadAhead &) = delete;

  // The images of a part, one per row; the same part of the next micro-batches is decoded from now
  // on. The failure is that of the first row that has one. Thread-safe; the calling thread takes
  // part in the work.
  Result<std::shared_ptr<const Images>> take(const BatchPart &part);

private:
  static constexpr int64_t kAhead = 2;
  struct Batch {
    BatchPart part;
    std::shared_ptr<Images> images;
    std::vector<Status> failures; // per row
    int64_t begun = 0, done = 0;  // rows
  };
  using Lock = std::unique_lock<std::mutex>;

  std::shared_ptr<Batch> find(const BatchPart &part);
  void decodeNext(Lock &lock, Batch &batch);
  void work();

  Load load_;
  int threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Batch>> batches_; // in the order of their need
  std::vector<std::thread> workers_;
  bool stops_ = false;
};

} // namespace cleave::data
