// Generated kernels beside hand-written loops, one thread, in one run: GB/s of both, the ratio of
// the times, and how far the results are apart.
//
//   bench-kernels [ROWS COLUMNS]
#include "test/bench/kernels/HandWritten.h"
#include "test/bench/kernels/KernelTexts.h"

#include "runtime/base/Table.h"
#include "runtime/base/Units.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

using namespace cleave;
using namespace cleave::bench;

namespace {

struct Free {
  void operator()(char *bytes) const { std::free(bytes); }
};

// The buffers of a kernel, filled with the same numbers every time: f32 in [0, 1), i64 in [0,
// rows).
class Buffers {
public:
  Buffers(const std::vector<BufferShape> &shapes, int64_t rows) : shapes_(shapes) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> real(0, 1);
    for (const BufferShape &shape : shapes) {
      size_t bytes = size_t(shape.elements) * (shape.isIndex ? 8 : 4);
      memory_.emplace_back(static_cast<char *>(std::aligned_alloc(64, (bytes + 127) / 64 * 64)));
      for (int64_t i = 0; i < shape.elements; ++i)
        if (shape.isIndex)
          reinterpret_cast<int64_t *>(memory_.back().get())[i] = int64_t(random() % uint64_t(rows));
        else
          reinterpret_cast<float *>(memory_.back().get())[i] = real(random);
      pointers.push_back(memory_.back().get());
    }
  }

  // The largest difference of any f32, relative to the larger of 1 and the number.
  double apart(const Buffers &other) const {
    double worst = 0;
    for (size_t b = 0; b < shapes_.size(); ++b)
      for (int64_t i = 0; !shapes_[b].isIndex && i < shapes_[b].elements; ++i) {
        double x = static_cast<float *>(pointers[b])[i],
               y = static_cast<float *>(other.pointers[b])[i];
        double difference = std::fabs(x - y) / std::max(1.0, std::fabs(x));
        worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
      }
    return worst;
  }

  std::vector<void *> pointers;

private:
  std::vector<BufferShape> shapes_;
  std::vector<std::unique_ptr<char, Free>> memory_;
};

template <typename Call> double secondsOf(Call call) {
  auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void measure(const KernelText &text, int64_t rows, int64_t columns, Table &table) {
  std::unique_ptr<test::CompiledKernel> kernel = test::CompiledKernel::compile(text.kernel);
  if (!kernel) {
    table.add({text.name, "failed"});
    return;
  }
  Buffers ours(text.buffers, text.indexLimit), theirs(text.buffers, text.indexLimit);
  double generated = 1e9, hand = 1e9, spent = 0, apart = 0;
  // They take turns, so that other work on the machine disturbs both alike.
  for (int turn = 0; turn < 5 || (spent < 1 && turn < 10000); ++turn) {
    double one = secondsOf([&] { kernel->run(ours.pointers.data(), 0, kernel->extent()); });
    double two = secondsOf([&] { text.hand(theirs.pointers.data(), rows, columns); });
    if (turn == 0)
      apart = ours.apart(theirs);
    generated = std::min(generated, one), hand = std::min(hand, two), spent += one + two;
  }
  char ratio[16], difference[16];
  std::snprintf(ratio, sizeof ratio, "%.2f", generated / hand);
  std::snprintf(difference, sizeof difference, "%.1e", apart);
  table.add({text.name, secondsText(generated), countText(text.bytes / generated, "B/s"),
             secondsText(hand), countText(text.bytes / hand, "B/s"), ratio, difference});
}

} // namespace

int main(int argc, char **argv) {
  int64_t rows = argc > 2 ? std::atoll(argv[1]) : 2048,
          columns = argc > 2 ? std::atoll(argv[2]) : 1024;
  Table table({"kernel", ">generated", ">", ">by hand", ">", ">ratio", ">apart"});
  for (const KernelText &text : kernelTexts(rows, columns))
    measure(text, rows, columns, table);
  std::printf("%lld x %lld f32\n%s", static_cast<long long>(rows), static_cast<long long>(columns),
              table.str().c_str());
  return 0;
}
