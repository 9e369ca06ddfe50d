// A large output on its way to a task in another process. Two job actors, which live in different processes
// when there are two, hand it over several times: the runtime may keep what it has mapped.

#include <unistd.h>
#include <xxhash.h>

#include <cstring>
#include <span>

#include "tools/bench/peers/clock.hpp"
#include "tools/bench/peers/libdag.hpp"

namespace dag::bench {
namespace {

/// What lies at the beginning of the bytes.
struct Header {
  std::int64_t process = 0;
  std::int64_t made_at_ns = 0;
};

/// What the receiver says.
struct Handed {
  std::int64_t took_ns = 0;
  bool from_another_process = false;
  bool complete = false;
};

struct Maker {
  Blob make(std::uint64_t size_bytes, std::uint8_t fill) {
    return Blob::make(size_bytes, [&](std::byte* bytes) {
      std::memset(bytes, fill, size_bytes);
      const Header header{getpid(), now_ns()};
      std::memcpy(bytes, &header, sizeof header);
    });
  }
};

struct Taker {
  Handed take(const Blob& blob, std::uint64_t size_bytes, std::uint8_t fill) {
    const std::int64_t now = now_ns();
    const std::span<const std::byte> bytes = blob.bytes();
    Header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    return {now - header.made_at_ns, header.process != getpid(),
            bytes.size() == size_bytes && bytes[sizeof header] == std::byte{fill} &&
                bytes.back() == std::byte{fill}};
  }
};

/// What the digest costs that is taken behind each hand-over (libdag/outputs/digest.cpp): so much of one
/// core.
std::int64_t digest_ns(std::uint64_t size_bytes) {
  const Blob blob = Maker().make(size_bytes, 1);
  const std::int64_t before = now_ns();
  const volatile std::uint64_t digest = XXH3_64bits(blob.bytes().data(), size_bytes);
  static_cast<void>(digest);
  return now_ns() - before;
}

}  // namespace

Figures libdag_blob(const Request& request) {
  const auto session = open_session(request);
  const std::uint64_t size_bytes = request.number("bytes", 1 << 20);
  const auto rounds = static_cast<std::uint8_t>(request.number("rounds", 5));
  Graph graph("blob");
  const auto maker = graph.actor<Maker>("maker");
  std::vector<Actor<Taker>> takers;
  for (const char* name : {"taker 1", "taker 2", "taker 3", "taker 4"})
    takers.push_back(graph.actor<Taker>(name));
  std::vector<Output<Handed>> handed;
  for (std::uint8_t round = 1; round <= rounds; ++round) {
    for (const Actor<Taker>& taker : takers) {
      const auto bytes = maker.call<&Maker::make>(size_bytes, round);
      if (!handed.empty()) bytes.after(handed.back());  // One at a time: none waits for another on the way.
      handed.push_back(taker.call<&Taker::take>(bytes, size_bytes, round));
    }
  }
  const Job job = session->submit(graph);
  std::vector<std::int64_t> samples;
  for (const auto& one : handed) {
    const Handed said = job.get(one);
    if (!said.complete) throw std::runtime_error("bytes are missing");
    if (said.from_another_process) samples.push_back(said.took_ns);
  }
  if (samples.size() < 2) throw std::runtime_error("all actors live in one process");
  samples.erase(samples.begin());  // The first one pays for what is mapped and connected once.
  Figures figures;
  add_percentiles(figures, "blob", std::move(samples));
  figures.numbers["digest"] = static_cast<double>(digest_ns(size_bytes)) / 1e9;
  return figures;
}

}  // namespace dag::bench
