// Promises of device worlds beyond the conformance suite: order within queues, lost ranks, refused
// calls, the choice between the implementations.
#include "DeviceRanks.h"
#include "FakeNccl.h"
#include "runtime/comm/devices/ConnectDevices.h"
#include "runtime/comm/local/LocalWorld.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

using namespace cleave;
using namespace cleave::comm;
using namespace std::chrono_literals;

namespace {

Call sumOf(void *data, int64_t count) {
  return {.kind = CollectiveKind::AllReduce, .pairs = {{data, data, count, DType::F32}}};
}

// Sums `buffer` over all ranks in the group's action; what the rank waits for.
Status sumOnce(DeviceWorld &devices, DeviceGroup &group, FakeDevice &device, void *buffer) {
  CLEAVE_TRY_ASSIGN(auto action, group.prepare(sumOf(buffer, 100), 1));
  CLEAVE_TRY(action->run());
  return devices.await([&] { return device.synchronize(); });
}

bool mentions(const Status &status, const std::string &text) {
  return status.message().find(text) != std::string::npos;
}

} // namespace

TEST_CASE("a call reads what was enqueued in its queue before, and is read by what comes after") {
  for (const std::string &implementation : implementations())
    DYNAMIC_SECTION(implementation) {
      CHECK(runDevices(
                implementation, 2,
                [](World &world, DeviceWorld &devices, FakeDevice &device, Findings &findings) {
                  std::vector<float> ones(1000, 1.0f), result(1000);
                  auto group = devices.connect(firstRanks(2));
                  auto source = onDevice(device, ones), data = onDevice(device, result),
                       copied = onDevice(device, result);
                  device.prepareFor(1);
                  auto before = device.copy(source->get(), data->get(), 4000);
                  auto sum = (*group)->prepare(sumOf(data->get(), 1000), 1);
                  device.prepareFor(1);
                  auto after = device.copy(data->get(), copied->get(), 4000);
                  for (int repetition = 0; repetition < 3; ++repetition)
                    for (auto *action : {&before, &sum, &after})
                      findings.expectOk((**action)->run(), "run");
                  findings.expectOk(devices.await([&] { return device.synchronize(); }), "await");
                  findings.expectOk(device.read(copied->get(), result.data(), 4000), "read");
                  findings.expect(result[0] == 2 && result[999] == 2, "sum");
                }) == "");
    }
}

TEST_CASE("a member sends only or receives only on a channel of messages") {
  for (uint32_t sender = 0; sender < 70; ++sender)
    for (uint32_t receiver = 0; receiver < 70; ++receiver)
      for (uint32_t other = 0; sender != receiver && other < 70; ++other) {
        REQUIRE(messageChannel(sender, receiver) != 0);
        if (other != sender)
          REQUIRE(messageChannel(sender, receiver) != messageChannel(other, sender));
        if (other != receiver)
          REQUIRE(messageChannel(sender, receiver) != messageChannel(receiver, other));
      }
}

TEST_CASE("a receive that waits holds up no send on another channel") {
  CHECK(runDevices("nccl", 2,
                   [](World &world, DeviceWorld &devices, FakeDevice &device, Findings &findings) {
                     const auto own = uint32_t(world.rank()), peer = 1 - own;
                     const GroupKey sends{{0}, messageChannel(own, peer)},
                         receives{{0}, messageChannel(peer, own)};
                     auto groups = makeDeviceGroups(devices, world.rank(), {2}, {sends, receives});
                     findings.expectOk(groups.status(), "groups");
                     auto sent = onDevice(device, std::vector<float>(10, float(own) + 1)),
                          received = onDevice(device, std::vector<float>(10));
                     auto receive = groups->at(receives)->prepare(
                         {.kind = CollectiveKind::Recv,
                          .pairs = {{nullptr, received->get(), 10, DType::F32}},
                          .peer = int(peer)},
                         kReceiveQueue);
                     auto send = groups->at(sends)->prepare(
                         {.kind = CollectiveKind::Send,
                          .pairs = {{sent->get(), nullptr, 10, DType::F32}},
                          .peer = int(peer)},
                         kSendQueue);
                     for (auto *action : {&receive, &send}) // both ranks receive first
                       findings.expectOk((**action)->run(), "run");
                     findings.expectOk(devices.await([&] { return device.synchronize(); }),
                                       "await");
                     std::vector<float> result(10);
                     findings.expectOk(device.read(received->get(), result.data(), 40), "read");
                     findings.expect(result[9] == float(peer) + 1, "the peer's values");
                   }) == "");
}

TEST_CASE("only calls over NCCL can be recorded, and copies of a single rank") {
  for (const std::string &implementation : implementations())
    for (int size : {1, 2})
      CHECK(runDevices(implementation, size,
                       [&](World &, DeviceWorld &devices, FakeDevice &, Findings &findings) {
                         findings.expect(devices.canRecord() ==
                                             (implementation == "nccl" || size == 1),
                                         "canRecord");
                       }) == "");
}

TEST_CASE("reductions over NCCL have the same bits on all members") {
  CHECK(runDevices("nccl", 3,
                   [](World &world, DeviceWorld &devices, FakeDevice &device, Findings &findings) {
                     std::vector<float> data(100), all(300);
                     for (size_t i = 0; i < data.size(); ++i)
                       data[i] = float(i) / float(world.rank() + 3);
                     auto group = devices.connect(firstRanks(3));
                     auto buffer = onDevice(device, data), gathered = onDevice(device, all);
                     findings.expectOk(sumOnce(devices, **group, device, buffer->get()), "sum");
                     auto gather = (*group)->prepare(
                         {.kind = CollectiveKind::AllGather,
                          .pairs = {{buffer->get(), gathered->get(), 100, DType::F32}}},
                         1);
                     findings.expectOk((*gather)->run(), "gather");
                     findings.expectOk(devices.await([&] { return device.synchronize(); }),
                                       "await");
                     findings.expectOk(device.read(gathered->get(), all.data(), 1200), "read");
                     for (int member : {1, 2})
                       findings.expect(std::memcmp(all.data(), all.data() + 100 * member, 400) == 0,
                                       "bits");
                   }) == "");
}

TEST_CASE("types without a reduction in NCCL are moved as bytes, and refused in reductions") {
  CHECK(runDevices(
            "nccl", 2,
            [](World &world, DeviceWorld &devices, FakeDevice &device, Findings &findings) {
              std::vector<int16_t> own(5, int16_t(300 + world.rank())), all(10);
              auto group = devices.connect(firstRanks(2));
              auto send = onDevice(device, own), recv = onDevice(device, all);
              Call call{.kind = CollectiveKind::AllGather,
                        .pairs = {{send->get(), recv->get(), 5, DType::I16}}};
              auto gather = (*group)->prepare(call, 1);
              findings.expectOk((*gather)->run(), "gather");
              findings.expectOk(devices.await([&] { return device.synchronize(); }), "await");
              findings.expectOk(device.read(recv->get(), all.data(), 20), "read");
              findings.expect(all[0] == 300 && all[4] == 300 && all[5] == 301 && all[9] == 301,
                              "data");
              call.kind = CollectiveKind::AllReduce;
              Status refused = (*group)->prepare(call, 1).status();
              findings.expect(refused.kind() == StatusKind::UserError && mentions(refused, "i16"),
                              refused.message());
            }) == "");
}

TEST_CASE("invalid calls are refused when they are prepared") {
  for (const std::string &implementation : implementations())
    CHECK(runDevices(implementation, 2,
                     [](World &, DeviceWorld &devices, FakeDevice &, Findings &findings) {
                       auto group = devices.connect(firstRanks(2));
                       float value = 0;
                       Status status = (*group)
                                           ->prepare({.kind = CollectiveKind::Send,
                                                      .pairs = {{&value, nullptr, 1, DType::F32}},
                                                      .peer = 2},
                                                     1)
                                           .status();
                       findings.expect(status.kind() == StatusKind::Defect &&
                                           mentions(status, "peer 2"),
                                       status.message());
                     }) == "");
}

TEST_CASE("a rank that ends is lost to those that wait for it on their devices") {
  for (const std::string &implementation : implementations())
    DYNAMIC_SECTION(implementation) {
      std::atomic<int> noticed{0};
      CHECK(runDevices(
                implementation, 3,
                [&](World &world, DeviceWorld &devices, FakeDevice &device, Findings &findings) {
                  auto group = devices.connect(firstRanks(3));
                  auto buffer = onDevice(device, std::vector<float>(100));
                  findings.expectOk(sumOnce(devices, **group, device, buffer->get()),
                                    "all are there");
                  if (world.rank() == 2)
                    return;
                  Status status = sumOnce(devices, **group, device, buffer->get());
                  findings.expect(status.kind() == StatusKind::Lost && mentions(status, "rank 2"),
                                  "expected a lost rank, found: " + status.message());
                  findings.expect(sumOnce(devices, **group, device, buffer->get()).kind() ==
                                      StatusKind::Lost,
                                  "the group stays unusable");
                  ++noticed;
                  while (noticed < 2) // so that the other one does not miss this rank
                    std::this_thread::sleep_for(1ms);
                }) == "");
    }
}

TEST_CASE("a rank that hangs is noticed after the timeout") {
  Options options;
  options.timeout = 2s;
  for (const std::string &implementation : implementations())
    DYNAMIC_SECTION(implementation) {
      std::atomic<bool> isOver{false};
      CHECK(runDevices(
                implementation, 2,
                [&](World &world, DeviceWorld &devices, FakeDevice &device, Findings &findings) {
                  auto group = devices.connect(firstRanks(2));
                  auto buffer = onDevice(device, std::vector<float>(100));
                  while (world.rank() == 1 && !isOver)
                    std::this_thread::sleep_for(1ms);
                  if (world.rank() == 1)
                    return;
                  Status status = sumOnce(devices, **group, device, buffer->get());
                  isOver = true;
                  findings.expect(status.kind() == StatusKind::Lost &&
                                      mentions(status, "within 2 s"),
                                  status.message());
                },
                options) == "");
    }
}

TEST_CASE("the timeout begins again with every call that the GPU completes") {
  Options options;
  options.timeout = 600ms;
  CHECK(runDevices(
            "nccl", 2,
            [](World &, DeviceWorld &devices, FakeDevice &device, Findings &findings) {
              auto group = devices.connect(firstRanks(2));
              auto buffer = onDevice(device, std::vector<float>(100));
              auto first = (*group)->prepare(sumOf(buffer->get(), 100), 1),
                   second = (*group)->prepare(sumOf(buffer->get(), 100), 1);
              for (auto *action : {&first, &second, &first, &second}) {
                static_cast<FakeQueue *>(device.handleOf(1))->work.push_back([] {
                  std::this_thread::sleep_for(250ms); // what the GPU computes in between
                  return Status::ok();
                });
                findings.expectOk((**action)->run(), "run");
              }
              findings.expectOk(devices.await([&] { return device.synchronize(); }), "await");
            },
            options) == "");
}

TEST_CASE("an error that NCCL reports later ends the calls") {
  CHECK(runDevices("nccl", 2,
                   [](World &world, DeviceWorld &devices, FakeDevice &device, Findings &findings) {
                     static std::atomic<bool> isOver;
                     isOver = false;
                     auto group = devices.connect(firstRanks(2));
                     auto buffer = onDevice(device, std::vector<float>(100));
                     while (world.rank() == 1 && !isOver)
                       std::this_thread::sleep_for(1ms);
                     if (world.rank() == 1)
                       return;
                     auto action = (*group)->prepare(sumOf(buffer->get(), 100), 1);
                     findings.expectOk((*action)->run(), "run");
                     breakNccl(0);
                     Status status = devices.await([&] { return device.synchronize(); });
                     isOver = true;
                     findings.expect(status.kind() == StatusKind::Lost &&
                                         mentions(status, "remote process"),
                                     status.message());
                   }) == "");
}

TEST_CASE("NCCL is chosen where every rank has a GPU of its own") {
  auto card = [](const char *identity, const char *obstacle) {
    DeviceCard made{};
    std::strcpy(made.identity, identity);
    std::strcpy(made.obstacle, obstacle);
    return made;
  };
  std::vector<DeviceCard> two{card("a", ""), card("b", "")}, shared{card("a", ""), card("a", "")},
      without{card("a", ""), card("b", "no library")};
  CHECK(*kindFor(two, "") == "nccl");
  CHECK(*kindFor(two, "nccl") == "nccl");
  CHECK(*kindFor(two, "staged") == "staged");
  CHECK(*kindFor(shared, "") == "staged");
  CHECK(*kindFor(without, "") == "staged");
  CHECK(kindFor(shared, "nccl").status().message() ==
        "found CLEAVE_DEVICE_COMM=nccl, but ranks 0 and 1 share a GPU; unset it");
  CHECK(kindFor(without, "nccl").status().message() ==
        "found CLEAVE_DEVICE_COMM=nccl, but rank 1: no library; unset it");
  CHECK(kindFor(two, "mpi").status().message() ==
        "found CLEAVE_DEVICE_COMM=mpi, expected nccl or staged");
}

TEST_CASE("ranks on one device communicate through the host") {
  CHECK(runDevices("staged", 2,
                   [](World &world, DeviceWorld &, FakeDevice &device, Findings &findings) {
                     auto chosen = connectDevices(world, device);
                     findings.expectOk(chosen.status(), "devices");
                     findings.expect((*chosen)->implementation() == "local, staged",
                                     (*chosen)->implementation());
                   }) == "");
}
