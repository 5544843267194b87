// NCCL's functions over FakeDevices: ranks are threads of this process, calls run when their queue
// is synchronized. Checks what NCCL requires: grouped calls, equal counts, types and operations on
// all members, queues of the member's own device, communicators that are still alive. A send waits
// for its receive. Reductions begin with the last member, unlike those of the hosts.
#pragma once

#include "runtime/comm/nccl/Nccl.h"

#include <string>

namespace cleave::comm {

const nccl::Table &fakeNccl();

// What was violated since the last call, and communicators that are left; empty: nothing.
std::string takeNcclFaults();
// The communicators of this member number fail from now on, as when a connection breaks.
void breakNccl(int member);

} // namespace cleave::comm
