// Kernels with the signature of generated ones, built as a shared object that tests read into a
// plan.
#include <cstdint>

// b[i] = a[i] + 1
extern "C" void add_one(void *const *buffers, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<float *>(buffers[1])[i] = static_cast<float *>(buffers[0])[i] + 1;
}

// b = the sum of 64 elements of a
extern "C" void sum_64(void *const *buffers, int64_t, int64_t) {
  float sum = 0;
  for (int64_t i = 0; i < 64; ++i)
    sum += static_cast<float *>(buffers[0])[i];
  *static_cast<float *>(buffers[1]) = sum;
}

// The same under the symbols of plans in which they have the signatures
// `extent 64; f32 256; f32 256 written` and `extent 1; f32 256; f32 4 written`.
extern "C" void add_one_signed(void *const *, int64_t, int64_t) __asm__("add_one.4401d27675b5d644")
    __attribute__((alias("add_one")));
extern "C" void sum_64_signed(void *const *, int64_t, int64_t) __asm__("sum_64.c4d79a0f32537bbd")
    __attribute__((alias("sum_64")));
