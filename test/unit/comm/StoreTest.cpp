// The store under good use and under attack: strangers, other jobs, damaged and endless messages.
#include "runtime/comm/SecureChannel.h"
#include "runtime/comm/Sockets.h"
#include "runtime/comm/StoreRequest.h"
#include "runtime/comm/TcpStore.h"
#include "runtime/comm/TcpStoreServer.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace cleave;
using namespace cleave::comm;
using namespace std::chrono_literals;

namespace {

const JobSecret kSecret = JobSecret::of("the secret of this test");
using Clock = std::chrono::steady_clock;

// A store of a job of `size` ranks, and what its ranks and strangers do.
struct Job {
  explicit Job(int size = 2, const StoreLimits &limits = {}) : socket(*bindLoopback()) {
    server = std::move(*TcpStoreServer::start(
        {.size = size, .port = socket.port, .listenSocket = socket.descriptor, .secret = kSecret},
        limits));
    this->size = size;
  }
  Rendezvous rank(int rank) const {
    return {.rank = rank, .size = size, .port = socket.port, .secret = kSecret};
  }
  std::unique_ptr<TcpStore> join() const {
    auto store = TcpStore::connect(rank(1), 60s);
    INFO(store.status().message());
    REQUIRE(store);
    return std::move(*store);
  }
  BoundSocket socket;
  int size;
  std::unique_ptr<TcpStoreServer> server;
};

// A connection without a protocol.
struct RawClient {
  explicit RawClient(const Job &job) {
    std::string problem;
    descriptor = dial("127.0.0.1", job.socket.port, 60s, problem);
    INFO(problem);
    REQUIRE(descriptor >= 0);
  }
  ~RawClient() { close(descriptor); }
  // The number of bytes that were sent before the store closed the connection or stopped reading.
  size_t send(const std::string &bytes) {
    size_t sent = 0;
    while (sent < bytes.size()) {
      ssize_t now = ::send(descriptor, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (now <= 0)
        break;
      sent += size_t(now);
    }
    return sent;
  }
  // Up to `bytes`; fewer if the store closes the connection, or is silent for the time.
  std::string receive(size_t bytes, std::chrono::milliseconds timeout = 60s) {
    setTimeout(descriptor, timeout);
    std::string received(bytes, '\0');
    ssize_t now = recv(descriptor, received.data(), bytes, MSG_WAITALL);
    received.resize(size_t(std::max<ssize_t>(now, 0)));
    return received;
  }
  bool isClosed() { // by the store
    std::string data(1 << 20, '\0');
    setTimeout(descriptor, 60s);
    ssize_t now;
    while ((now = recv(descriptor, data.data(), data.size(), 0)) > 0) {
    }
    return now == 0 || errno == ECONNRESET;
  }
  int descriptor;
};

// A channel of a member, by hand.
SecureChannel openChannel(RawClient &client) {
  ClientHandshake handshake(kSecret, 1, 2);
  client.send(handshake.hello());
  client.send(*handshake.answer(client.receive(kChallengeBytes), "the store"));
  return *handshake.finish(client.receive(kVerdictBytes), "the store");
}

std::string lengthBytes(uint32_t length) {
  return {reinterpret_cast<const char *>(&length), sizeof length};
}

// Whether a rank of the job can use the store.
void checkServes(const Job &job, const std::string &key) {
  auto store = job.join();
  Status written = store->set(key, "value");
  INFO(written.message());
  REQUIRE(written);
  auto value = store->get(key, 60s);
  REQUIRE(value);
  CHECK(*value == "value");
}

} // namespace

TEST_CASE("ranks write and read keys of up to a mebibyte") {
  Job job;
  auto a = job.join(), b = job.join();
  CHECK(a->set("small", ""));
  CHECK(*b->get("small", 60s) == "");
  std::string large(kMaxValueBytes, 'x'), longKey(kMaxKeyBytes, 'k');
  CHECK(a->set(longKey, large));
  CHECK(*b->get(longKey, 60s) == large);
  CHECK(a->set(longKey + "k", "").kind() == StatusKind::Defect);
  CHECK(a->set("larger", large + "x").kind() == StatusKind::Defect);
  CHECK(b->get("never written", 50ms).status().message().find("waiting for never written") == 0);
}

TEST_CASE("a key is written once, and a published key as often as one likes") {
  Job job;
  auto a = job.join(), b = job.join();
  CHECK(a->set("key", "value"));
  CHECK(b->set("key", "value")); // the same again
  for (Status again : {b->set("key", "other"), b->publish("key", "other")}) {
    CHECK(again.kind() == StatusKind::UserError);
    CHECK(again.message() == "another process has written 'key' for this rank; start each process "
                             "with a rank of its own");
  }
  CHECK(*a->get("key", 60s) == "value");
  CHECK(*a->peek("published") == std::nullopt);
  CHECK(a->publish("published", "1"));
  CHECK(b->publish("published", "2"));
  CHECK(**a->peek("published") == "2");
  CHECK(a->set("published", "3").kind() == StatusKind::UserError);
}

TEST_CASE("a rank with another secret is refused with one clear message, at once") {
  Job job;
  Rendezvous stranger = job.rank(1);
  stranger.secret = JobSecret::of("another secret");
  auto begun = Clock::now();
  auto refused = TcpStore::connect(stranger, 600s);
  CHECK(refused.status().kind() == StatusKind::Lost);
  CHECK(refused.status().message() == concat("the store at 127.0.0.1:", job.socket.port,
                                             " belongs to another job, or CLEAVE_JOB_SECRET "
                                             "differs"));
  CHECK(Clock::now() - begun < 60s);
  checkServes(job, "key");
}

TEST_CASE("a rank of a job of another size is refused") {
  Job job(4);
  Rendezvous other = job.rank(1);
  other.size = 8;
  auto refused = TcpStore::connect(other, 60s);
  CHECK(refused.status().kind() == StatusKind::UserError);
  CHECK(refused.status().message() ==
        concat("the job at 127.0.0.1:", job.socket.port,
               " has 4 ranks, but this rank was started as one of 8; start all ranks with the "
               "same number"));
}

TEST_CASE("a rendezvous without a secret is a defect, not an open store") {
  CHECK(TcpStore::connect({}, 1s).status().kind() == StatusKind::Defect);
}

TEST_CASE("a program that is not a store is named as such") {
  BoundSocket socket = *bindLoopback();
  std::thread other([&] {
    int client = accept(socket.descriptor, nullptr, nullptr);
    std::string page = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nnot understood";
    ::send(client, page.data(), page.size(), MSG_NOSIGNAL);
    std::this_thread::sleep_for(200ms);
    close(client);
  });
  Rendezvous rendezvous{.rank = 1, .size = 2, .port = socket.port, .secret = kSecret};
  CHECK(TcpStore::connect(rendezvous, 60s)
            .status()
            .message()
            .find("is not the store of a Cleave job") != std::string::npos);
  other.join();
  close(socket.descriptor);
}

TEST_CASE("requests without a handshake change nothing") {
  Job job;
  RawClient client(job);
  std::string request = messageOf({StoreRequest::Set, "key", std::string(100, 'x')});
  client.send(request);                                      // without a handshake
  client.send(std::string("S\3\0\0\0key\5\0\0\0value", 17)); // of the protocol without secrets
  CHECK(client.isClosed());
  CHECK(*job.join()->peek("key") == std::nullopt);
}

TEST_CASE("a recorded handshake is of no use a second time") {
  Job job;
  RawClient first(job);
  ClientHandshake handshake(kSecret, 1, 2);
  first.send(handshake.hello());
  std::string proof = *handshake.answer(first.receive(kChallengeBytes), "");
  first.send(proof);
  CHECK(handshake.finish(first.receive(kVerdictBytes), ""));
  RawClient second(job);
  second.send(handshake.hello() + proof);
  second.receive(kChallengeBytes);
  CHECK(second.receive(kVerdictBytes)[0] == 'P');
  CHECK(second.receive(1, 100ms).empty()); // it stays outside
}

TEST_CASE("a frame that is repeated or changed ends the connection") {
  Job job;
  for (bool repeats : {false, true}) {
    RawClient client(job);
    SecureChannel channel = openChannel(client);
    std::string frame = channel.seal(messageOf({StoreRequest::Publish, "key", "sealed"}));
    if (!repeats)
      frame[frame.size() - 1] ^= 1;
    client.send(frame);
    if (repeats) {
      client.receive(kFrameLengthBytes + kFrameSealBytes + 1); // the first is answered
      client.send(frame);
    }
    CHECK(client.isClosed());
  }
  CHECK(**job.join()->peek("key") == "sealed");
}

TEST_CASE("damaged requests of a member end its connection") {
  Job job;
  std::string tooLong = messageOf({StoreRequest::Set, std::string(kMaxKeyBytes + 1, 'k'), ""});
  for (const std::string &message : {std::string(), std::string("S"), std::string("Q\0\0\0\0", 5),
                                     std::string("S\xff\xff\xff\xff", 5), tooLong}) {
    RawClient client(job);
    SecureChannel channel = openChannel(client);
    client.send(channel.seal(message));
    CHECK(client.isClosed());
  }
  for (uint32_t length : {0u, 15u, uint32_t(kMaxMessageBytes + kFrameSealBytes + 1), ~0u}) {
    RawClient client(job);
    openChannel(client);
    client.send(lengthBytes(length) + std::string(100, 'x'));
    CHECK(client.isClosed());
  }
  checkServes(job, "key");
}

TEST_CASE("garbage ends a connection before and after the handshake") {
  Job job;
  for (unsigned char seed = 0; seed < 50; ++seed) {
    RawClient client(job);
    std::string garbage(3000, '\0');
    for (size_t i = 0; i < garbage.size(); ++i)
      garbage[i] = char((i * 2654435761u + seed * 40503u) >> 7);
    if (seed % 2)
      openChannel(client);
    client.send(garbage);
    if (!(seed % 2))
      CHECK(client.isClosed());
  }
  checkServes(job, "key");
}

TEST_CASE("a client that does not finish its handshake in time is closed") {
  Job job(2, {.handshake = 300ms});
  RawClient silent(job), slow(job);
  ClientHandshake handshake(kSecret, 1, 2);
  std::thread drip([&] { // one byte at a time
    for (char byte : handshake.hello()) {
      slow.send(std::string(1, byte));
      std::this_thread::sleep_for(30ms);
    }
  });
  CHECK(silent.isClosed());
  drip.join();
  CHECK(slow.isClosed());
  auto member = job.join();
  std::this_thread::sleep_for(600ms); // members may be silent
  CHECK(member->set("key", "value"));
}

TEST_CASE("a thousand strangers do not keep a rank out") {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 4096); // both ends are in this process
  setrlimit(RLIMIT_NOFILE, &limit);
  Job job;
  auto before = job.join();
  std::vector<std::unique_ptr<RawClient>> strangers;
  for (int i = 0; i < 1000; ++i)
    strangers.push_back(std::make_unique<RawClient>(job));
  checkServes(job, "key");
  CHECK(before->set("members", "stay"));
  CHECK(strangers[0]->isClosed()); // the oldest made room for the newest
  CHECK(strangers[999]->receive(1, 100ms).empty());
}

TEST_CASE("a client that never reads is dropped and delays nobody") {
  Job job;
  checkServes(job, "key");
  auto store = job.join();
  CHECK(store->set("large", std::string(kMaxValueBytes, 'x')));
  RawClient client(job);
  SecureChannel channel = openChannel(client);
  setTimeout(client.descriptor, 60s);
  std::string frame;
  do { // until the store closes the connection
    frame = channel.seal(messageOf({StoreRequest::Get, "large", ""}));
  } while (client.send(frame) == frame.size());
  auto begun = Clock::now();
  CHECK(*store->get("key", 60s) == "value");
  CHECK(Clock::now() - begun < 30s);
  CHECK(client.isClosed()); // after what the sockets had buffered
}

TEST_CASE("the store's server ends at once while clients are connected") {
  auto job = std::make_unique<Job>();
  auto member = job->join();
  RawClient stranger(*job);
  auto begun = Clock::now();
  job->server.reset();
  CHECK(Clock::now() - begun < 30s);
  CHECK(member->set("key", "value").kind() == StatusKind::Lost);
  CHECK(member->peek("key").status().kind() == StatusKind::Lost);
}

TEST_CASE("rank 0 listens at the interface of the rendezvous only") {
  auto addressesOf = [](const std::string &host) {
    std::vector<std::string> addresses;
    auto listeners = listenAt(host, 0);
    REQUIRE(listeners);
    for (int listener : *listeners) {
      addresses.push_back(localAddressOf(listener));
      close(listener);
    }
    return addresses;
  };
  CHECK(addressesOf("127.0.0.1") == std::vector<std::string>{"127.0.0.1"});
  CHECK(addressesOf("127.0.1.1") == std::vector<std::string>{"127.0.1.1"}); // if asked for
  for (const std::string &address : addressesOf("localhost"))
    CHECK(isLoopback(address));
  for (const char *elsewhere : {"192.0.2.1", "no-such-host.invalid"}) // not of this machine
    CHECK((addressesOf(elsewhere)[0] == "::" || addressesOf(elsewhere)[0] == "0.0.0.0"));
}
