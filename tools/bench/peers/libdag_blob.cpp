// A large output on its way to a task in another process, several times: the runtime may keep what it has
// mapped. Between plain tasks, a stencil of two columns; or between calls of job actors, which live in
// different processes when there are two.

#include <unistd.h>
#include <xxhash.h>

#include <cstring>
#include <span>

#include "tools/bench/peers/clock.hpp"
#include "tools/bench/peers/libdag.hpp"

namespace dag::bench {
namespace {

/// The beginning of the bytes.
struct Header {
  std::int64_t process = 0;
  std::int64_t made_at_ns = 0;
};

/// The receiver's report.
struct Handed {
  std::int64_t took_ns = 0;
  bool from_another_process = false;
  bool complete = false;
};

Blob made(std::uint64_t size_bytes, std::uint8_t fill) {
  return Blob::make(size_bytes, [&](std::byte* bytes) {
    std::memset(bytes, fill, size_bytes);
    const Header header{getpid(), now_ns()};
    std::memcpy(bytes, &header, sizeof header);
  });
}

Header header_of(const Blob& blob) {
  Header header;
  std::memcpy(&header, blob.bytes().data(), sizeof header);
  return header;
}

Handed taken(const Blob& blob, std::uint64_t size_bytes, std::uint8_t fill) {
  const std::int64_t now = now_ns();
  const std::span<const std::byte> bytes = blob.bytes();
  const Header header = header_of(blob);
  return {now - header.made_at_ns, header.process != getpid(),
          bytes.size() == size_bytes && bytes[sizeof header] == std::byte{fill} &&
              bytes.back() == std::byte{fill}};
}

struct Maker {
  Blob make(std::uint64_t size_bytes, std::uint8_t fill) { return made(size_bytes, fill); }
};
struct Taker {
  Handed take(const Blob& blob, std::uint64_t size_bytes, std::uint8_t fill) {
    return taken(blob, size_bytes, fill);
  }
};

// Results of plain tasks of this process. They do not run at once: there is one lane.
std::vector<Handed> taken_here;

/// Takes what the other column made, and makes the next.
Blob next(const Blob& own, const Blob& other, std::uint64_t size_bytes, std::uint8_t fill) {
  const Handed handed = taken(other, size_bytes, static_cast<std::uint8_t>(fill - 1));
  // Only what came last was waited for.
  if (header_of(other).made_at_ns > header_of(own).made_at_ns || !handed.complete)
    taken_here.push_back(handed);
  return made(size_bytes, fill);
}

std::vector<Handed> between_tasks(Session& session, std::uint64_t size_bytes, std::uint8_t rounds) {
  Graph graph("blob");
  Output<Blob> left = graph.task("make", made, size_bytes, std::uint8_t{1});
  Output<Blob> right = graph.task("make", made, size_bytes, std::uint8_t{1});
  for (std::uint8_t round = 2; round < 2 + 4 * rounds; ++round) {
    const Output<Blob> next_left = graph.task("next", next, left, right, size_bytes, round);
    right = graph.task("next", next, right, left, size_bytes, round);
    left = next_left;
  }
  session.submit(graph).wait();
  return taken_here;
}

std::vector<Handed> between_actors(Session& session, std::uint64_t size_bytes, std::uint8_t rounds) {
  Graph graph("blob");
  const auto maker = graph.actor<Maker>("maker");
  std::vector<Actor<Taker>> takers;
  for (const char* name : {"taker 1", "taker 2", "taker 3", "taker 4"})
    takers.push_back(graph.actor<Taker>(name));
  std::vector<Output<Handed>> handed;
  for (std::uint8_t round = 1; round <= rounds; ++round) {
    for (const Actor<Taker>& taker : takers) {
      const auto bytes = maker.call<&Maker::make>(size_bytes, round);
      if (!handed.empty()) bytes.after(handed.back());  // In turn: none waits for another on the way.
      handed.push_back(taker.call<&Taker::take>(bytes, size_bytes, round));
    }
  }
  const Job job = session.submit(graph);
  std::vector<Handed> said;
  for (const auto& one : handed) said.push_back(job.get(one));
  return said;
}

/// The time of the digest that is taken after each hand-over (libdag/outputs/digest.cpp), on one
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
  const std::vector<Handed> handed = request.text("between") == "actors"
                                         ? between_actors(*session, size_bytes, rounds)
                                         : between_tasks(*session, size_bytes, rounds);
  std::vector<std::int64_t> samples;
  for (const Handed& one : handed) {
    if (!one.complete) throw std::runtime_error("bytes are missing");
    if (one.from_another_process) samples.push_back(one.took_ns);
  }
  if (samples.size() < 2) throw std::runtime_error("everything ran in one process");
  samples.erase(samples.begin());  // The first one pays for what is mapped and connected once.
  Figures figures;
  add_percentiles(figures, "blob", std::move(samples));
  figures.numbers["digest"] = static_cast<double>(digest_ns(size_bytes)) / 1e9;
  return figures;
}

}  // namespace dag::bench
