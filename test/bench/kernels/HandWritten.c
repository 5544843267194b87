// The kernels of the benchmark as one would write them by hand, compiled with gcc -O3 -march=native
// -ffast-math. Buffers as the generated kernels have them; `rows` and `columns` are the benchmark's
// N and M.
#include "test/bench/kernels/HandWritten.h"

#include <math.h>

void hand_softmax(void *const *buffers, int64_t rows, int64_t columns) {
  const float *restrict x = buffers[0];
  float *restrict y = buffers[1];
  for (int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    float largest = x[0], sum = 0;
    for (int64_t c = 1; c < columns; ++c)
      largest = x[c] > largest ? x[c] : largest;
    for (int64_t c = 0; c < columns; ++c)
      sum += y[c] = expf(x[c] - largest);
    for (int64_t c = 0; c < columns; ++c)
      y[c] /= sum;
  }
}

void hand_layer_norm(void *const *buffers, int64_t rows, int64_t columns) {
  const float *restrict x = buffers[0], *restrict scale = buffers[1], *restrict bias = buffers[2];
  float *restrict y = buffers[3];
  for (int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    float sum = 0, squares = 0;
    for (int64_t c = 0; c < columns; ++c)
      sum += x[c];
    float mean = sum / (float)columns;
    for (int64_t c = 0; c < columns; ++c)
      squares += (x[c] - mean) * (x[c] - mean);
    float inverse = 1 / sqrtf(squares / (float)columns + 1e-5f);
    for (int64_t c = 0; c < columns; ++c)
      y[c] = (x[c] - mean) * inverse * scale[c] + bias[c];
  }
}

void hand_gelu_bias(void *const *buffers, int64_t rows, int64_t columns) {
  const float *restrict x = buffers[0], *restrict bias = buffers[1];
  float *restrict y = buffers[2];
  for (int64_t r = 0; r < rows; ++r, x += columns, y += columns)
    for (int64_t c = 0; c < columns; ++c) {
      float z = x[c] + bias[c];
      y[c] = 0.5f * z * (1 + erff(z * 0.70710678f));
    }
}

void hand_adamw(void *const *buffers, int64_t rows, int64_t columns) {
  float *restrict p = buffers[0], *restrict m = buffers[2], *restrict v = buffers[3];
  const float *restrict g = buffers[1];
  for (int64_t i = 0; i < rows * columns; ++i) {
    m[i] = 0.9f * m[i] + 0.1f * g[i];
    v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
    p[i] = p[i] * 0.9999f - 0.001f * m[i] / (sqrtf(v[i]) + 1e-8f);
  }
}

void hand_column_sum(void *const *buffers, int64_t rows, int64_t columns) {
  const float *restrict x = buffers[0];
  float *restrict y = buffers[1];
  for (int64_t c = 0; c < columns; ++c)
    y[c] = 0;
  for (int64_t r = 0; r < rows; ++r, x += columns)
    for (int64_t c = 0; c < columns; ++c)
      y[c] += x[c];
}

void hand_cross_entropy(void *const *buffers, int64_t rows, int64_t columns) {
  const float *restrict x = buffers[0];
  const int64_t *restrict label = buffers[1];
  float *restrict loss = buffers[2];
  for (int64_t r = 0; r < rows; ++r, x += columns) {
    float largest = x[0], sum = 0;
    for (int64_t c = 1; c < columns; ++c)
      largest = x[c] > largest ? x[c] : largest;
    for (int64_t c = 0; c < columns; ++c)
      sum += expf(x[c] - largest);
    loss[r] = logf(sum) + largest - x[label[r]];
  }
}

void hand_gather(void *const *buffers, int64_t rows, int64_t columns) {
  const float *restrict table = buffers[0];
  const int64_t *restrict index = buffers[1];
  float *restrict y = buffers[2];
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      y[r * columns + c] = table[index[r] * columns + c];
}

// In squares that fit into the first-level cache.
void hand_transpose(void *const *buffers, int64_t rows, int64_t columns) {
  enum { square = 32 };
  const float *restrict x = buffers[0];
  float *restrict y = buffers[1];
  for (int64_t r0 = 0; r0 < rows; r0 += square)
    for (int64_t c0 = 0; c0 < columns; c0 += square)
      for (int64_t r = r0; r < r0 + square && r < rows; ++r)
        for (int64_t c = c0; c < c0 + square && c < columns; ++c)
          y[r * columns + c] = x[c * rows + r];
}
