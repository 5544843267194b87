// Compares the declarations of runtime/comm/nccl/Nccl.h with NCCL's own header, when compiled.
#include "runtime/comm/nccl/Nccl.h"

#include <nccl.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <type_traits>

namespace {

using namespace cleave::comm::nccl;

// What the calling convention sees of a type: pointers alike, enums as integers, structs by size.
template <size_t bytes> struct Bytes {};
template <typename T>
using Passed = std::conditional_t<
    std::is_pointer_v<T>, void *,
    std::conditional_t<std::is_enum_v<T>, Bytes<sizeof(int)>,
                       std::conditional_t<std::is_class_v<T>, Bytes<sizeof(T)>, T>>>;
template <typename> struct Shape;
template <typename R, typename... A> struct Shape<R (*)(A...)> {
  using type = Passed<R>(Passed<A>...);
};
template <typename Own, typename Theirs>
constexpr bool kAlike = std::is_same_v<typename Shape<Own>::type, typename Shape<Theirs>::type>;

#define SAME_FUNCTION(own, theirs) static_assert(kAlike<decltype(Table::own), decltype(&theirs)>)
SAME_FUNCTION(getVersion, ncclGetVersion);
SAME_FUNCTION(getUniqueId, ncclGetUniqueId);
SAME_FUNCTION(commInitRankConfig, ncclCommInitRankConfig);
SAME_FUNCTION(commFinalize, ncclCommFinalize);
SAME_FUNCTION(commDestroy, ncclCommDestroy);
SAME_FUNCTION(commAbort, ncclCommAbort);
SAME_FUNCTION(commGetAsyncError, ncclCommGetAsyncError);
SAME_FUNCTION(getErrorString, ncclGetErrorString);
SAME_FUNCTION(getLastError, ncclGetLastError);
SAME_FUNCTION(groupStart, ncclGroupStart);
SAME_FUNCTION(groupEnd, ncclGroupEnd);
SAME_FUNCTION(allReduce, ncclAllReduce);
SAME_FUNCTION(allGather, ncclAllGather);
SAME_FUNCTION(reduceScatter, ncclReduceScatter);
SAME_FUNCTION(send, ncclSend);
SAME_FUNCTION(recv, ncclRecv);

#define SAME_VALUE(own, theirs) static_assert(int(own) == int(theirs))
SAME_VALUE(Code::Success, ncclSuccess);
SAME_VALUE(Code::UnhandledCudaError, ncclUnhandledCudaError);
SAME_VALUE(Code::SystemError, ncclSystemError);
SAME_VALUE(Code::InternalError, ncclInternalError);
SAME_VALUE(Code::InvalidArgument, ncclInvalidArgument);
SAME_VALUE(Code::InvalidUsage, ncclInvalidUsage);
SAME_VALUE(Code::RemoteError, ncclRemoteError);
SAME_VALUE(Code::InProgress, ncclInProgress);
SAME_VALUE(Type::Int8, ncclInt8);
SAME_VALUE(Type::Uint8, ncclUint8);
SAME_VALUE(Type::Int32, ncclInt32);
SAME_VALUE(Type::Uint32, ncclUint32);
SAME_VALUE(Type::Int64, ncclInt64);
SAME_VALUE(Type::Uint64, ncclUint64);
SAME_VALUE(Type::Float16, ncclFloat16);
SAME_VALUE(Type::Float32, ncclFloat32);
SAME_VALUE(Type::Float64, ncclFloat64);
SAME_VALUE(Type::Bfloat16, ncclBfloat16);
SAME_VALUE(Op::Sum, ncclSum);
SAME_VALUE(Op::Max, ncclMax);
SAME_VALUE(Op::Min, ncclMin);

static_assert(sizeof(UniqueId) == sizeof(ncclUniqueId));
static_assert(sizeof(Config) <= sizeof(ncclConfig_t));
#define SAME_FIELD(field) static_assert(offsetof(Config, field) == offsetof(ncclConfig_t, field))
SAME_FIELD(size);
SAME_FIELD(magic);
SAME_FIELD(version);
SAME_FIELD(blocking);
SAME_FIELD(cgaClusterSize);
SAME_FIELD(minCTAs);
SAME_FIELD(maxCTAs);
SAME_FIELD(netName);

} // namespace

TEST_CASE("NCCL's initial configuration is ours") {
  ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  Config own;
  CHECK(own.magic == theirs.magic);
  CHECK(own.cgaClusterSize == theirs.cgaClusterSize);
  CHECK(own.minCTAs == theirs.minCTAs);
  CHECK(own.maxCTAs == theirs.maxCTAs);
  CHECK(own.netName == theirs.netName);
}
