// Parallel: independent work on the cores of this machine.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace cleave {

// Calls run(0), …, run(count - 1), several at a time, in any order; returns when all have returned.
// The calls must not depend on each other, and must not throw.
template <typename Run> void inParallel(size_t count, Run run) {
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < count; i = next++)
      run(i);
  };
  std::vector<std::thread> helpers;
  try {
    for (size_t k = 1; k < std::min(cores, count); ++k)
      helpers.emplace_back(work);
  } catch (const std::system_error &) { // no more threads: those that there are do all
  }
  work();
  for (std::thread &helper : helpers)
    helper.join();
}

} // namespace cleave
