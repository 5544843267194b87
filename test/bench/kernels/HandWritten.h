// The hand-written kernels that generated ones are measured against. All take the buffers of the
// generated kernel.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void hand_softmax(void *const *buffers, int64_t rows, int64_t columns);
void hand_layer_norm(void *const *buffers, int64_t rows, int64_t columns);
void hand_gelu_bias(void *const *buffers, int64_t rows, int64_t columns);
void hand_adamw(void *const *buffers, int64_t rows, int64_t columns);
void hand_column_sum(void *const *buffers, int64_t rows, int64_t columns);
void hand_cross_entropy(void *const *buffers, int64_t rows, int64_t columns);
void hand_gather(void *const *buffers, int64_t rows, int64_t columns);
void hand_transpose(void *const *buffers, int64_t rows, int64_t columns);

#ifdef __cplusplus
}
#endif
