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
