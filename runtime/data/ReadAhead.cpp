// See ReadAhead.h.
#include "runtime/data/ReadAhead.h"

#include <algorithm>
#include <system_error>

namespace cleave::data {

ReadAhead::~ReadAhead() {
  {
    Lock lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  for (std::thread &worker : workers_)
    worker.join();
}

// The batch of a part, which is added if it is new. Under the lock.
std::shared_ptr<ReadAhead::Batch> ReadAhead::find(const BatchPart &part) {
  for (const auto &batch : batches_)
    if (batch->part == part)
      return batch;
  auto batch = std::make_shared<Batch>();
  batch->part = part;
  batch->images = std::make_shared<Images>(size_t(part.rows));
  batch->failures.resize(size_t(part.rows));
  auto behind = std::find_if(batches_.begin(), batches_.end(),
                             [&](const auto &other) { return other->part.batch > part.batch; });
  batches_.insert(behind, batch);
  return batch;
}

// Decodes the next row of a batch that has one left; the lock is free meanwhile.
void ReadAhead::decodeNext(Lock &lock, Batch &batch) {
  const int64_t row = batch.begun++;
  lock.unlock();
  Result<image::Image> image = load_(batch.part.batch, batch.part.row + row);
  lock.lock();
  if (image)
    (*batch.images)[size_t(row)] = std::move(*image);
  else
    batch.failures[size_t(row)] = image.status();
  if (++batch.done == batch.part.rows)
    changed_.notify_all();
}

void ReadAhead::work() {
  Lock lock(mutex_);
  while (!stops_) {
    auto waiting = std::find_if(batches_.begin(), batches_.end(),
                                [](const auto &batch) { return batch->begun < batch->part.rows; });
    if (waiting == batches_.end()) {
      changed_.wait(lock);
      continue;
    }
    const std::shared_ptr<Batch> batch = *waiting; // batches_ changes meanwhile
    decodeNext(lock, *batch);
  }
}

Result<std::shared_ptr<const ReadAhead::Images>> ReadAhead::take(const BatchPart &part) {
  Lock lock(mutex_);
  std::erase_if(batches_, [&](const auto &batch) {
    return batch->part.batch < part.batch || batch->part.batch > part.batch + kAhead;
  });
  const std::shared_ptr<Batch> batch = find(part);
  for (int64_t ahead = 1; ahead <= kAhead; ++ahead)
    find({part.batch + ahead, part.row, part.rows});
  try {
    while (int(workers_.size()) < threads_)
      workers_.emplace_back([this] { work(); });
  } catch (const std::system_error &) { // no more threads: those that there are do all
    threads_ = int(workers_.size());
  }
  changed_.notify_all();
  while (batch->begun < part.rows)
    decodeNext(lock, *batch);
  changed_.wait(lock, [&] { return batch->done == part.rows; });
  for (const Status &failure : batch->failures)
    CLEAVE_TRY(failure);
  return std::shared_ptr<const Images>(batch->images);
}

} // namespace cleave::data
