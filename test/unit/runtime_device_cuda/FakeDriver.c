// A libcuda.so.1 without a GPU, for cuDNN: it accepts the kernels that cuDNN compiles for a plan,
// and refuses everything else. cuDNN looks all of these functions up.

enum { kSuccess = 0, kNoDevice = 100 };

int cuLibraryLoadData(void **library, const void *code, int *options, void **optionValues,
                      unsigned optionCount, int *libraryOptions, void **libraryValues,
                      unsigned libraryCount) {
  (void)options, (void)optionValues, (void)optionCount;
  (void)libraryOptions, (void)libraryValues, (void)libraryCount;
  *library = (void *)code;
  return kSuccess;
}

int cuLibraryGetKernel(void **kernel, void *library, const char *name) {
  (void)name;
  *kernel = library;
  return kSuccess;
}

int cuLibraryUnload(void *library) {
  (void)library;
  return kSuccess;
}

int cuDriverGetVersion(int *version) {
  *version = 13000;
  return kSuccess;
}

#define REFUSED(NAME)                                                                              \
  int NAME(void) { return kNoDevice; }

REFUSED(cuInit)
REFUSED(cuCtxGetCurrent)
REFUSED(cuCtxGetLimit)
REFUSED(cuCtxPopCurrent)
REFUSED(cuCtxPushCurrent)
REFUSED(cuDeviceGet)
REFUSED(cuDeviceGetAttribute)
REFUSED(cuDeviceGetCount)
REFUSED(cuFuncGetAttribute)
REFUSED(cuFuncSetAttribute)
REFUSED(cuGetErrorName)
REFUSED(cuGetErrorString)
REFUSED(cuKernelGetAttribute)
REFUSED(cuKernelGetFunction)
REFUSED(cuKernelSetAttribute)
REFUSED(cuLaunchCooperativeKernel)
REFUSED(cuLaunchKernel)
REFUSED(cuLaunchKernelEx)
REFUSED(cuLibraryLoadFromFile)
REFUSED(cuLinkAddData)
REFUSED(cuLinkComplete)
REFUSED(cuLinkCreate)
REFUSED(cuLinkDestroy)
REFUSED(cuModuleGetFunction)
REFUSED(cuModuleLoadData)
REFUSED(cuModuleUnload)
REFUSED(cuOccupancyMaxActiveBlocksPerMultiprocessor)
REFUSED(cuOccupancyMaxPotentialClusterSize)
REFUSED(cuStreamGetCtx)
