// The conformance suite of all implementations of World and Communicator: results are compared with
// plain loops, element by element.
#include "Ranks.h"

#include "runtime/base/Float16.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

using namespace cleave;
using namespace cleave::comm;

namespace {

const std::vector<DType> kTypes{DType::F32, DType::F64, DType::I64, DType::BF16};

// A buffer whose elements are set and read as doubles.
class Buffer {
public:
  Buffer(DType dtype, int64_t count) : dtype(dtype), bytes(count * byteSize(dtype)) {}
  void *data() { return bytes.data(); }
  void set(int64_t i, double value) {
    switch (dtype) {
    case DType::F64:
      return put<double>(i, value);
    case DType::I64:
      return put<int64_t>(i, static_cast<int64_t>(value));
    case DType::BF16:
      return put<uint16_t>(i, toBF16(static_cast<float>(value)));
    default:
      return put<float>(i, static_cast<float>(value));
    }
  }
  double get(int64_t i) const {
    switch (dtype) {
    case DType::F64:
      return take<double>(i);
    case DType::I64:
      return static_cast<double>(take<int64_t>(i));
    case DType::BF16:
      return fromBF16(take<uint16_t>(i));
    default:
      return take<float>(i);
    }
  }

private:
  template <typename T> void put(int64_t i, T value) {
    std::memcpy(&bytes[i * sizeof(T)], &value, sizeof(T));
  }
  template <typename T> T take(int64_t i) const {
    T value;
    std::memcpy(&value, &bytes[i * sizeof(T)], sizeof(T));
    return value;
  }
  DType dtype;
  std::vector<unsigned char> bytes;
};

// Small integers, exact in all types and in any order of summation; different for each rank and
// element.
double valueOf(int rank, int64_t element) {
  return static_cast<double>((rank * 7 + element * 3) % 13) - 4;
}

double reduced(Reduce op, int members, int64_t element) {
  double result = valueOf(0, element);
  for (int member = 1; member < members; ++member) {
    double next = valueOf(member, element);
    result = op == Reduce::Sum   ? result + next
             : op == Reduce::Max ? std::max(result, next)
                                 : std::min(result, next);
  }
  return result;
}

// The expected element `i` of member `me` after the call, in which each member sent valueOf(member,
// element).
double expected(const Call &call, int members, int me, int64_t count, int64_t i) {
  switch (call.kind) {
  case CollectiveKind::AllReduce:
    return reduced(call.reduce, members, i);
  case CollectiveKind::AllGather:
    return valueOf(static_cast<int>(i / count), i % count);
  case CollectiveKind::ReduceScatter:
    return reduced(call.reduce, members, me * count + i);
  case CollectiveKind::Permute:
    return valueOf(call.sources[me], i);
  default:
    return valueOf(static_cast<int>(i / count), me * count + i % count);
  }
}

int64_t sentElements(CollectiveKind kind, int members, int64_t count) {
  return kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::AllToAll ? members * count
                                                                                   : count;
}
int64_t receivedElements(CollectiveKind kind, int members, int64_t count) {
  return kind == CollectiveKind::AllGather || kind == CollectiveKind::AllToAll ? members * count
                                                                               : count;
}

// The members but for the last in a cycle; the last one keeps its block.
std::vector<int> cycle(int members) {
  std::vector<int> sources(members, members - 1);
  for (int member = 0; member + 1 < members; ++member)
    sources[member] = (member + 1) % (members - 1);
  return sources;
}

// Runs one call with these counts and types in a group and checks every element.
void tryCall(Communicator &group, Findings &findings, CollectiveKind kind, Reduce reduce,
             bool inPlace, bool async, const std::vector<std::pair<DType, int64_t>> &tensors) {
  std::vector<Buffer> sends, recvs;
  Call call{.kind = kind, .reduce = reduce};
  if (kind == CollectiveKind::Permute)
    call.sources = cycle(group.size());
  sends.reserve(tensors.size());
  recvs.reserve(tensors.size());
  for (auto [dtype, count] : tensors) {
    Buffer &send = sends.emplace_back(dtype, sentElements(kind, group.size(), count));
    Buffer &recv = recvs.emplace_back(dtype, receivedElements(kind, group.size(), count));
    for (int64_t i = 0; i < sentElements(kind, group.size(), count); ++i)
      send.set(i, valueOf(group.rank(), i));
    call.pairs.push_back({send.data(), inPlace ? send.data() : recv.data(), count, dtype});
  }
  std::string what = std::string(name(kind)) + " of " + std::to_string(tensors[0].second) + " " +
                     std::string(name(tensors[0].first));
  Status status = async ? group.wait(group.start(call)) : group.run(call);
  findings.expectOk(status, what);
  for (size_t t = 0; status && t < tensors.size(); ++t)
    for (int64_t i = 0; i < receivedElements(kind, group.size(), tensors[t].second); ++i) {
      double found = (inPlace ? sends : recvs)[t].get(i);
      double right = expected(call, group.size(), group.rank(), tensors[t].second, i);
      if (found != right)
        return findings.expect(false, what + ": element " + std::to_string(i) + " of tensor " +
                                          std::to_string(t) + " is " + std::to_string(found) +
                                          ", not " + std::to_string(right));
    }
}

// All kinds in which every member of the group takes part.
const std::vector<CollectiveKind> kGroupKinds = [] {
  std::vector<CollectiveKind> kinds;
  for (const CollectiveFacts &facts : cleave::kCollectives)
    if (!isPointToPoint(facts.kind))
      kinds.push_back(facts.kind);
  return kinds;
}();

} // namespace

TEST_CASE(
    "every collective returns the right elements to every member, for odd sizes and all types") {
  for (const std::string &implementation : implementations())
    for (int size : {1, 2, 3, 4})
      DYNAMIC_SECTION(implementation << " with " << size << " ranks") {
        CHECK(runRanks(implementation, size, [&](World &world, Findings &findings) {
                auto group = world.connect(firstRanks(size));
                findings.expectOk(group.status(), "group");
                for (CollectiveKind kind : kGroupKinds)
                  for (DType dtype : kTypes)
                    for (int64_t count : {0, 1, 3, 1000, 40001})
                      tryCall(**group, findings, kind, Reduce::Sum, false, false, {{dtype, count}});
              }) == "");
      }
}

TEST_CASE("reductions compute maxima and minima, also in place") {
  for (const std::string &implementation : implementations())
    DYNAMIC_SECTION(implementation) {
      CHECK(runRanks(implementation, 3, [](World &world, Findings &findings) {
              auto group = world.connect(firstRanks(3));
              for (Reduce reduce : {Reduce::Sum, Reduce::Max, Reduce::Min})
                for (int64_t count : {1, 7, 5000}) {
                  tryCall(**group, findings, CollectiveKind::AllReduce, reduce, true, false,
                          {{DType::F32, count}});
                  tryCall(**group, findings, CollectiveKind::ReduceScatter, reduce, false, false,
                          {{DType::I64, count}});
                }
            }) == "");
    }
}

TEST_CASE("one call transfers tensors of several sizes and types") {
  std::vector<std::pair<DType, int64_t>> bucket;
  for (int i = 0; i < 300; ++i) // more than one posting of the shared-memory implementations
    bucket.push_back({kTypes[i % kTypes.size()], (i * 37) % 900});
  for (const std::string &implementation : implementations())
    DYNAMIC_SECTION(implementation) {
      CHECK(runRanks(implementation, 4, [&](World &world, Findings &findings) {
              auto group = world.connect(firstRanks(4));
              for (CollectiveKind kind : kGroupKinds) {
                tryCall(**group, findings, kind, Reduce::Sum, false, false, bucket);
                tryCall(**group, findings, kind, Reduce::Sum, false, false,
                        {{DType::F32, 3}, {DType::F64, 5}, {DType::BF16, 1}});
              }
            }) == "");
    }
}

TEST_CASE("large tensors are transferred in pieces") {
  for (const std::string &implementation : implementations())
    DYNAMIC_SECTION(implementation) {
      CHECK(runRanks(implementation, 3, [](World &world, Findings &findings) {
              auto group = world.connect(firstRanks(3));
              for (CollectiveKind kind : kGroupKinds)
                tryCall(**group, findings, kind, Reduce::Sum, false, false,
                        {{DType::F32, 2'000'003}, {DType::BF16, 77}});
            }) == "");
    }
}

TEST_CASE("the groups of a mesh's axes do not disturb each other") {
  const std::vector<int64_t> mesh{2, 3};
  for (const std::string &implementation : implementations())
    DYNAMIC_SECTION(implementation) {
      CHECK(runRanks(implementation, 6, [&](World &world, Findings &findings) {
              auto groups = connectMesh(world, mesh, {{0}, {1}, {0, 1}, {1, 0}, {1}, {}});
              findings.expectOk(groups.status(), "groups");
              findings.expect(groups->size() == 5, "a repeated list is one group");
              for (int round = 0; round < 10; ++round)
                for (auto &[axes, group] : *groups)
                  for (CollectiveKind kind : kGroupKinds)
                    tryCall(*group, findings, kind, Reduce::Sum, false, round & 1,
                            {{DType::F32, 100 + round * 499}});
            }) == "");
    }
}

TEST_CASE("started collectives of several groups finish in any order of waiting") {
  for (const std::string &implementation : implementationsThat(Promise::RunsConcurrently))
    DYNAMIC_SECTION(implementation) {
      CHECK(runRanks(implementation, 4, [](World &world, Findings &findings) {
              auto groups = connectMesh(world, {2, 2}, {{0}, {1}});
              std::vector<std::vector<float>> data(20, std::vector<float>(3000, 1.0f));
              std::vector<std::pair<Communicator *, Ticket>> tickets;
              for (size_t i = 0; i < data.size(); ++i) {
                Communicator *group = (*groups)[{static_cast<int>(i & 1)}].get();
                Call call{CollectiveKind::AllReduce,
                          Reduce::Sum,
                          {{data[i].data(), data[i].data(), 3000, DType::F32}}};
                tickets.push_back({group, group->start(call)});
              }
              findings.expectOk((*groups)[{0}]->barrier(), "blocking behind started ones");
              for (size_t i = tickets.size(); i-- > 0;) {
                findings.expectOk(tickets[i].first->wait(tickets[i].second), "waiting");
                findings.expect(data[i][0] == 2.0f && data[i][2999] == 2.0f, "sum");
              }
              // Ranks 1 and 3 may still be opening their group, for which they need rank 0.
              findings.expectOk((*world.connect(firstRanks(4)))->barrier(), "leaving together");
            }) == "");
    }
}

TEST_CASE("messages from one rank to another arrive in the order in which they are sent") {
  for (const std::string &implementation : implementations())
    for (int64_t count : {1, 5000, 700'000})
      DYNAMIC_SECTION(implementation << " with " << count << " elements") {
        CHECK(runRanks(implementation, 2, [&](World &world, Findings &findings) {
                auto group = world.connect(firstRanks(2));
                std::vector<std::vector<float>> data(4, std::vector<float>(count));
                std::vector<Ticket> tickets(4);
                for (int i = 0; world.rank() == 0 && i < 4; ++i) {
                  data[i].assign(count, static_cast<float>(i));
                  tickets[i] =
                      (*group)->start({.kind = CollectiveKind::Send,
                                       .pairs = {{data[i].data(), nullptr, count, DType::F32}},
                                       .peer = 1});
                }
                for (int k = 0; k < 4; ++k) {
                  if (world.rank() == 1) {
                    findings.expectOk(
                        (*group)->run({.kind = CollectiveKind::Recv,
                                       .pairs = {{nullptr, data[k].data(), count, DType::F32}},
                                       .peer = 0}),
                        "recv");
                    findings.expect(data[k][0] == k && data[k][count - 1] == k,
                                    "message " + std::to_string(k));
                  } else {
                    findings.expectOk((*group)->wait(tickets[k]), "send");
                  }
                }
              }) == "");
      }
}

TEST_CASE("ranks that all send before they receive do not wait for each other") {
  for (const std::string &implementation : implementationsThat(Promise::RunsConcurrently))
    DYNAMIC_SECTION(implementation) {
      CHECK(
          runRanks(implementation, 3, [](World &world, Findings &findings) {
            auto group = world.connect(firstRanks(3));
            int next = (world.rank() + 1) % 3, before = (world.rank() + 2) % 3;
            std::vector<double> out(100'000, world.rank()), in(100'000);
            for (int round = 0; round < 5; ++round) {
              Ticket send = (*group)->start({.kind = CollectiveKind::Send,
                                             .pairs = {{out.data(), nullptr, 100'000, DType::F64}},
                                             .peer = next});
              findings.expectOk((*group)->run({.kind = CollectiveKind::Recv,
                                               .pairs = {{nullptr, in.data(), 100'000, DType::F64}},
                                               .peer = before}),
                                "recv");
              findings.expectOk((*group)->wait(send), "send");
              findings.expect(in[0] == before && in[99'999] == before, "message");
            }
          }) == "");
    }
}

TEST_CASE("a reduction is the sum in rank order, bit by bit") {
  constexpr int kRanks = 4;
  constexpr int64_t kCount = 100'003;
  auto value = [](int rank, int64_t i) {
    return static_cast<float>(std::sin(rank * 1000.0 + i) * std::exp(i % 11));
  };
  std::vector<float> right(kCount);
  for (int64_t i = 0; i < kCount; ++i)
    right[i] = ((value(0, i) + value(1, i)) + value(2, i)) + value(3, i);
  for (const std::string &implementation : implementationsThat(Promise::ReducesInRankOrder))
    DYNAMIC_SECTION(implementation) {
      CHECK(runRanks(implementation, kRanks, [&](World &world, Findings &findings) {
              auto group = world.connect(firstRanks(kRanks));
              std::vector<float> data(kCount);
              for (int64_t i = 0; i < kCount; ++i)
                data[i] = value(world.rank(), i);
              findings.expectOk(
                  (*group)->allReduce(data.data(), data.data(), kCount, DType::F32, Reduce::Sum),
                  "all_reduce");
              findings.expect(std::memcmp(data.data(), right.data(), kCount * sizeof(float)) == 0,
                              "bits differ");
            }) == "");
    }
}
