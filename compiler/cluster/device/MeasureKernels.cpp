// See MeasureKernels.h.
#include "compiler/cluster/device/MeasureKernels.h"

#include "runtime/artifact/Modules.h"

namespace cleave::cluster {

static_assert(kFmasPerElement == 512 * 8); // iterations and multiply-adds of one, below

static constexpr const char *kPtx = R"ptx(
.version 7.0
.target sm_70
.address_size 64

// Thread i: out[4 i] to out[4 i + 3] are the sums of lhs and rhs.
.visible .entry measure_add(.param .u64 lhs, .param .u64 rhs, .param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<8>;
  .reg .f32 %f<12>;
  ld.param.u64 %rd0, [lhs];
  ld.param.u64 %rd1, [rhs];
  ld.param.u64 %rd2, [out];
  cvta.to.global.u64 %rd0, %rd0;
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r0, %r1, %r2;
  mul.wide.u32 %rd3, %r3, 16;
  add.s64 %rd4, %rd0, %rd3;
  add.s64 %rd5, %rd1, %rd3;
  add.s64 %rd6, %rd2, %rd3;
  ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd4];
  ld.global.v4.f32 {%f4, %f5, %f6, %f7}, [%rd5];
  add.f32 %f8, %f0, %f4;
  add.f32 %f9, %f1, %f5;
  add.f32 %f10, %f2, %f6;
  add.f32 %f11, %f3, %f7;
  st.global.v4.f32 [%rd6], {%f8, %f9, %f10, %f11};
  ret;
}

// Thread i: data[i] from 512 rounds of eight independent multiply-adds.
.visible .entry measure_fma(.param .u64 data)
{
  .reg .pred %p0;
  .reg .b32 %r<5>;
  .reg .b64 %rd<4>;
  .reg .f32 %f<10>;
  ld.param.u64 %rd0, [data];
  cvta.to.global.u64 %rd0, %rd0;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r0, %r1, %r2;
  mul.wide.u32 %rd1, %r3, 4;
  add.s64 %rd2, %rd0, %rd1;
  ld.global.f32 %f0, [%rd2];
  mov.f32 %f1, %f0;
  mov.f32 %f2, %f0;
  mov.f32 %f3, %f0;
  mov.f32 %f4, %f0;
  mov.f32 %f5, %f0;
  mov.f32 %f6, %f0;
  mov.f32 %f7, %f0;
  mov.f32 %f8, 0f3F000000;
  mov.u32 %r4, 0;
round:
  fma.rn.f32 %f0, %f0, %f8, %f8;
  fma.rn.f32 %f1, %f1, %f8, %f8;
  fma.rn.f32 %f2, %f2, %f8, %f8;
  fma.rn.f32 %f3, %f3, %f8, %f8;
  fma.rn.f32 %f4, %f4, %f8, %f8;
  fma.rn.f32 %f5, %f5, %f8, %f8;
  fma.rn.f32 %f6, %f6, %f8, %f8;
  fma.rn.f32 %f7, %f7, %f8, %f8;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p0, %r4, 512;
  @%p0 bra round;
  add.f32 %f0, %f0, %f1;
  add.f32 %f2, %f2, %f3;
  add.f32 %f4, %f4, %f5;
  add.f32 %f6, %f6, %f7;
  add.f32 %f0, %f0, %f2;
  add.f32 %f4, %f4, %f6;
  add.f32 %f9, %f0, %f4;
  st.global.f32 [%rd2], %f9;
  ret;
}

.visible .entry measure_empty()
{
  ret;
}
)ptx";

static plan::Kernel kernel(const char *symbol, int64_t threads, int64_t ofBlock,
                           std::initializer_list<int64_t> bytesOfBuffers) {
  plan::Kernel made;
  made.set_symbol(symbol);
  made.mutable_grid()->set_blocks(uint32_t(threads / ofBlock));
  made.mutable_grid()->set_threads(uint32_t(ofBlock));
  for (int64_t bytes : bytesOfBuffers) {
    plan::KernelParameter &parameter = *made.add_parameters();
    parameter.set_dtype(plan::F32);
    parameter.set_bytes(uint64_t(bytes));
  }
  if (made.parameters_size()) // the last one is the result
    made.mutable_parameters(made.parameters_size() - 1)->set_written(true);
  return made;
}

plan::Kernel additionKernel(int64_t elements) {
  return kernel("measure_add", elements / 4, 256, {elements * 4, elements * 4, elements * 4});
}

plan::Kernel arithmeticKernel(int64_t elements) {
  return kernel("measure_fma", elements, 256, {elements * 4});
}

plan::Kernel emptyKernel() { return kernel("measure_empty", 1, 1, {}); }

plan::Plan measureKernels() {
  plan::Plan plan;
  plan.set_device(artifact::kCuda);
  plan::Module &module = *plan.add_modules();
  module.set_target("sm_70");
  module.set_code(kPtx);
  return plan;
}

} // namespace cleave::cluster
