// The errors of the other members if a rank ends, hangs, or makes a different call.
#include "Ranks.h"

#include "runtime/comm/Sockets.h"
#include "runtime/comm/gloo/GlooWorld.h"
#include "runtime/comm/mixed/MixedWorld.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

using namespace cleave;
using namespace cleave::comm;
using namespace std::chrono_literals;

static double secondsSince(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

TEST_CASE("a rank that ends is named by those that wait for it, within seconds") {
  for (const std::string &implementation : implementations())
    DYNAMIC_SECTION(implementation) {
      CHECK(runRanks(implementation, 3, [](World &world, Findings &findings) {
              auto group = world.connect(firstRanks(3));
              findings.expectOk((*group)->barrier(), "all are there");
              if (world.rank() == 2)
                return; // its World is destroyed
              auto begun = std::chrono::steady_clock::now();
              std::vector<float> data(10000);
              Status status =
                  (*group)->allReduce(data.data(), data.data(), 10000, DType::F32, Reduce::Sum);
              findings.expect(status.kind() == StatusKind::Lost,
                              "expected a lost rank, found: " + status.message());
              findings.expect(status.message().find(
                                  "rank 2 (index 2 of the group of ranks 0, 1, 2) ended") == 0,
                              status.message());
              findings.expect(secondsSince(begun) < 30, "took too long");
              Status again = (*group)->barrier();
              findings.expect(again.kind() == StatusKind::Lost, "the group stays unusable");
              std::this_thread::sleep_for(4s); // so that the others do not miss this rank
            }) == "");
    }
}

TEST_CASE("a rank that ends is named whichever rank notices it first") {
  for (const std::string &implementation : implementations())
    for (int late : {0, 1})
      DYNAMIC_SECTION(implementation << ", rank " << late << " comes late") {
        CHECK(runRanks(implementation, 3, [&](World &world, Findings &findings) {
                auto group = world.connect(firstRanks(3));
                findings.expectOk((*group)->barrier(), "all are there");
                if (world.rank() == 2) {
                  std::this_thread::sleep_for(200ms); // the early rank waits by now
                  return;
                }
                if (world.rank() == late)
                  std::this_thread::sleep_for(600ms); // rank 2 has ended by now
                std::vector<float> data(10000);
                Status status =
                    (*group)->allReduce(data.data(), data.data(), 10000, DType::F32, Reduce::Sum);
                findings.expect(status.message().find("rank 2 (index 2") == 0, status.message());
                std::this_thread::sleep_for(1s); // so that the other does not miss this rank
              }) == "");
      }
}

TEST_CASE("a permute has every member as a source once") {
  for (const std::string &implementation : implementations())
    DYNAMIC_SECTION(implementation) {
      CHECK(runRanks(implementation, 2, [](World &world, Findings &findings) {
              auto group = world.connect(firstRanks(2));
              findings.expect((*group)->barrier().isOk(), "both ranks are there");
              float from = 1, to = 0;
              for (const std::vector<int> &sources : {std::vector<int>{0, 0}, {1}, {1, 2}}) {
                Status status = (*group)->run({.kind = CollectiveKind::Permute,
                                               .pairs = {{&from, &to, 1, DType::F32}},
                                               .sources = sources});
                findings.expect(status.message().find("not each of 2 members once") !=
                                    std::string::npos,
                                "expected a defect, found: " + status.message());
              }
            }) == "");
    }
}

TEST_CASE("a rank that hangs is named after the timeout") {
  Options options;
  options.timeout = 1s;
  for (const std::string &implementation : implementations())
    DYNAMIC_SECTION(implementation) {
      CHECK(runRanks(
                implementation, 2,
                [](World &world, Findings &findings) {
                  auto group = world.connect(firstRanks(2));
                  findings.expectOk((*group)->barrier(), "all are there");
                  if (world.rank() == 1) {
                    std::this_thread::sleep_for(3s);
                    return;
                  }
                  auto begun = std::chrono::steady_clock::now();
                  Status status = (*group)->barrier();
                  findings.expect(status.kind() == StatusKind::Lost, "expected a lost rank");
                  findings.expect(status.message() ==
                                      "rank 1 (index 1 of the group of ranks 0, 1) did not come to "
                                      "all_reduce of rank 0 within 1 s",
                                  status.message());
                  findings.expect(secondsSince(begun) > 0.9 && secondsSince(begun) < 30,
                                  "took " + std::to_string(secondsSince(begun)));
                },
                options) == "");
    }
}

TEST_CASE("a receive from a rank that ended fails with its name") {
  for (const std::string &implementation : implementations())
    DYNAMIC_SECTION(implementation) {
      CHECK(runRanks(implementation, 2, [](World &world, Findings &findings) {
              auto group = world.connect(firstRanks(2));
              findings.expectOk((*group)->barrier(), "all are there");
              if (world.rank() == 1)
                return;
              float value = 0;
              Status status = (*group)->run({.kind = CollectiveKind::Recv,
                                             .pairs = {{nullptr, &value, 1, DType::F32}},
                                             .peer = 1});
              findings.expect(status.kind() == StatusKind::Lost &&
                                  status.message().find("rank 1 (index 1") == 0,
                              status.message());
            }) == "");
    }
}

TEST_CASE("members that share memory detect different collectives") {
  for (const std::string &implementation : implementations())
    if (implementation != "gloo" && implementation != "mixed")
      for (int64_t count : {4, 100'000})
        DYNAMIC_SECTION(implementation << " with " << count << " elements") {
          CHECK(runRanks(implementation, 2, [&](World &world, Findings &findings) {
                  auto group = world.connect(firstRanks(2));
                  std::vector<float> send(200'000), recv(200'000);
                  Call call{world.rank() == 0 ? CollectiveKind::AllReduce
                                              : CollectiveKind::AllGather,
                            Reduce::Sum,
                            {{send.data(), recv.data(), count, DType::F32}}};
                  Status status = (*group)->run(call);
                  findings.expect(status.kind() == StatusKind::Defect, "expected a defect");
                  findings.expect(status.message().find("all_reduce") != std::string::npos &&
                                      status.message().find("all_gather") != std::string::npos,
                                  status.message());
                  std::this_thread::sleep_for(100ms);
                }) == "");
        }
}

TEST_CASE("invalid calls are rejected before any member waits") {
  CHECK(runRanks("local", 2, [](World &world, Findings &findings) {
          auto group = world.connect(firstRanks(2));
          float value = 0;
          auto refused = [&](const Call &call, const std::string &part) {
            Status status = (*group)->run(call);
            findings.expect(status.kind() == StatusKind::Defect &&
                                status.message().find(part) != std::string::npos,
                            status.message());
          };
          std::vector<BufferPair> sent{{&value, nullptr, 1, DType::F32}};
          refused({.kind = CollectiveKind::Send, .pairs = sent, .peer = 2}, "peer 2");
          refused({.kind = CollectiveKind::Send, .pairs = sent, .peer = world.rank()},
                  "not another");
          refused({.kind = CollectiveKind::AllReduce, .pairs = sent}, "missing buffer");
          findings.expect(world.connect({1 - world.rank()}).status().kind() == StatusKind::Defect,
                          "a group one is not in");
          findings.expectOk((*group)->barrier(), "the group still works");
        }) == "");
}

TEST_CASE("a rank that does not come is named by those that wait for it") {
  Options options;
  options.timeout = 1s;
  for (const char *implementation : {"gloo", "mixed"})
    DYNAMIC_SECTION(implementation) {
      BoundSocket socket = *bindLoopback();
      auto store = TcpStore::connect({.rank = 0,
                                      .size = 2,
                                      .port = socket.port,
                                      .listenSocket = socket.descriptor,
                                      .secret = JobSecret::of("a job without rank 1")},
                                     60s);
      REQUIRE(store);
      std::shared_ptr<TcpStore> shared = std::move(*store);
      auto world = implementation == std::string("gloo")
                       ? connectGloo(shared, 0, 2, options)
                       : connectMixed(shared, 0, 2, "this machine", options);
      CHECK(world.status().kind() == StatusKind::Lost);
      INFO(world.status().message());
      CHECK(world.status().message().find("rank 1 did not come to the rendezvous") !=
            std::string::npos);
    }
}
