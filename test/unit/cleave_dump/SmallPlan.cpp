// The plan in Protobuf's text form.
#include "SmallPlan.h"

#include "runtime/artifact/KernelSignature.h"

#include <google/protobuf/text_format.h>

#include <cassert>

using namespace cleave;

static const char *const kPlan = R"(
  format_version: 4 producer: "cleave 0.1.0" trains: true
  device: "cpu" modules { target: "cpu" code: "elf" machine: "znver5" }
  command_line: "cleave-compile two.onnx --train --ranks 4"
  source { path: "/models/two.onnx" sha256: "00" bytes: 4096 }
  mesh { name: "dp" size: 2 } mesh { name: "tp" size: 2 }
  tensors { name: "x" dtype: F32 shape: [8, 16] role: INPUT sharding { axes: 0 } sharding {} }
  tensors { name: "h.0.w" dtype: F32 shape: [16, 16] role: PARAMETER sharding {} sharding {}
            source { file { path: "" offset: 64 bytes: 1024 dtype: F32 } } }
  tensors { name: "h.1.w" dtype: F32 shape: [16, 16] role: PARAMETER sharding {} sharding {}
            source { file { path: "two.bin" offset: 0 bytes: 1024 dtype: F32 } } }
  tensors { name: "h.0.w.momentum" dtype: F32 shape: [16, 16] role: STATE parameter: "h.0.w"
            sharding {} sharding {} source { fill: 0.5 } }
  programs {
    name: "step" ranks: [0, 1, 2, 3]
    arenas { space: DEVICE bytes: 4096 peak_bytes: 3584 }
    buffers { name: "x" offset: 0 bytes: 256 dtype: F32 shape: [4, 16] role: INPUT
              first: 0 last: 1 tensor: 0 }
    buffers { name: "h.0.w" offset: 256 bytes: 1024 dtype: F32 shape: [16, 16] role: PARAMETER
              first: 0 last: 8 tensor: 1 }
    buffers { name: "h.1.w" offset: 1280 bytes: 1024 dtype: F32 shape: [16, 16] role: PARAMETER
              first: 0 last: 8 tensor: 2 }
    buffers { name: "h.0.w.momentum" offset: 2304 bytes: 1024 dtype: F32 shape: [16, 16] role: STATE
              first: 0 last: 8 tensor: 3 }
    buffers { name: "h.0.y" offset: 3328 bytes: 256 dtype: F32 shape: [4, 16] role: ACTIVATION
              first: 1 last: 2 tensor: -1 }
    buffers { name: "h.1.y" offset: 0 bytes: 256 dtype: F32 shape: [4, 16] role: ACTIVATION
              first: 2 last: 4 tensor: -1 }
    buffers { name: "z" offset: 3840 bytes: 256 dtype: F32 shape: [4, 16] role: ACTIVATION
              first: 3 last: 5 tensor: -1 }
    buffers { name: "loss" offset: 3328 bytes: 4 dtype: F32 role: METRIC first: 5 last: 6 tensor: -1 }
    segments {
      name: "micro"
      instructions { name: "x" seconds: 1e-6 load_input { buffer: 0 } }
      instructions { name: "h.0.product" seconds: 2e-6 matmul { m: 4 n: 16 k: 16
        lhs { buffer: 0 strides: [16, 1] } rhs { buffer: 1 strides: [16, 1] }
        out { buffer: 4 strides: [16, 1] } } }
      instructions { name: "h.1.product" seconds: 2e-6 matmul { m: 4 n: 16 k: 16
        lhs { buffer: 4 strides: [16, 1] } rhs { buffer: 2 strides: [16, 1] }
        out { buffer: 5 strides: [16, 1] } } }
      instructions { name: "sum" seconds: 0.000015
                     collective { kind: ALL_REDUCE axes: 0 send: 5 recv: 6 } queue: 1 waits: 2 }
      instructions { name: "x" fill { buffer: 5 value: 0 } waits: 3 }
      instructions { name: "loss" seconds: 1e-6 launch { kernel: 0 buffers: [6, 7] written: 1 } }
      instructions { name: "loss" metric { name: "loss" buffer: 7 } }
    }
    segments {
      name: "update"
      instructions { name: "h.0.w" seconds: 1e-6
                     launch { kernel: 1 buffers: [1, 3] written: [0, 1] } }
      instructions { name: "h.1.w" seconds: 1e-6 launch { kernel: 2 buffers: [2] written: [0] } }
    }
    schedule { segment: 0 slot: 0 } schedule { segment: 0 slot: 1 } schedule { segment: 1 }
    kernels { symbol: "cleave_mean" extent: 1 parameters { dtype: F32 bytes: 256 }
              parameters { dtype: F32 bytes: 4 written: true } }
    kernels { symbol: "cleave_momentum" extent: 16
              parameters { dtype: F32 bytes: 1024 written: true }
              parameters { dtype: F32 bytes: 1024 written: true } }
    kernels { symbol: "cleave_sgd" extent: 16
              parameters { dtype: F32 bytes: 1024 written: true } }
  }
  predicted { step_seconds: 0.000044 planned_seconds: 0.0000442 bound_seconds: 0.00004 gap: 0.0909 peak_bytes: 3584
              compute_seconds: 0.000014 communication_seconds: 0.00003 flops: 8192
              communication_bytes: 512 cluster: "local-cpu" is_calibrated: true }
  decisions { name: "h.0.w" kind: "parameter" choice: "[_, _]" seconds: 1e-6
              reason: "replicated: gathering it costs more than it saves"
              alternatives { choice: "[dp, _]" seconds: 0.00001 } }
  decisions { name: "h.1.w" kind: "parameter" choice: "[_, _]" seconds: 1e-6
              reason: "replicated: gathering it costs more than it saves" }
  decisions { name: "h.0.y" kind: "activation" choice: "kept" reason: "it is small" }
  decisions { kind: "remark" reason: "half of the ranks repeat the other half's work" }
)";

plan::Plan smallPlan() {
  plan::Plan plan;
  bool parsed = google::protobuf::TextFormat::ParseFromString(kPlan, &plan);
  assert(parsed);
  (void)parsed;
  for (plan::Kernel &kernel : *plan.mutable_programs(0)->mutable_kernels())
    kernel.set_symbol(artifact::symbolOf(kernel.symbol(), kernel, plan.mesh()));
  return plan;
}
