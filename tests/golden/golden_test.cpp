// A frame per message and version of the protocol, kept as it once went over the wire. Each is decoded on
// every run, so messages of an older process are still understood; then written again and compared, so our
// messages still look the same.
//
// DAG_BLESS=1 writes the files of the present version that are missing or differ; the difference is to be
// reviewed, and is only honest before a release, or where the schema grew by appending. Files of older
// versions are never written.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/support/samples.hpp"

using namespace dag;
using namespace dag::wire;
namespace fs = std::filesystem;

namespace {

/// The tests' sources: given by CTest; else we must have been started from the project's root.
fs::path source_folder() {
  const char* given = std::getenv("DAG_TEST_SOURCE");
  return given != nullptr ? given : "tests";
}
const fs::path folder = source_folder() / "golden" / "frames";
constexpr std::size_t limit = limits::control_frame_bytes_max;

std::string version_folder(unsigned version) { return "v" + std::to_string(version); }

/// 32 bytes a line, so that a difference shows where it is.
std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text += "0123456789abcdef"[std::to_integer<unsigned>(bytes[i]) >> 4];
    text += "0123456789abcdef"[std::to_integer<unsigned>(bytes[i]) & 15];
    if (i % 32 == 31 || i + 1 == bytes.size()) text += '\n';
  }
  return text;
}

std::vector<std::byte> from_hex(const std::string& text) {
  std::vector<std::byte> bytes;
  std::string pair;
  for (const char c : text) {
    if (c == '\n') continue;
    pair += c;
    if (pair.size() < 2) continue;
    bytes.push_back(static_cast<std::byte>(std::stoi(pair, nullptr, 16)));
    pair.clear();
  }
  return bytes;
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool blessing() {
  const char* bless = std::getenv("DAG_BLESS");
  return bless != nullptr && std::string_view(bless) == "1";
}

}  // namespace

TEST_CASE("what we say is what we said") {
  const fs::path present = folder / version_folder(link::versions_spoken.max);
  for (const auto& sample : samples::all()) {
    const Blob frame = *encode(samples::envelope_of({sample.operation}), limit, samples::codes());
    const fs::path path = present / (sample.name + ".hex");
    const std::string now = hex(frame.bytes());
    if (blessing() && content_of(path) != now) {
      fs::create_directories(present);
      std::ofstream(path) << now;
    }
    INFO(path.string() << ": run with DAG_BLESS=1 to write it, and review the difference");
    CHECK(content_of(path) == now);
  }
}

TEST_CASE("what was once said is understood, and said again the same") {
  for (const auto& version : fs::directory_iterator(folder)) {
    for (const auto& file : fs::directory_iterator(version.path())) {
      INFO(file.path().string());
      const auto bytes = from_hex(content_of(file.path()));
      const auto envelope = decode(bytes, limit, samples::codes());
      if (!envelope) FAIL(envelope.error().message());
      REQUIRE(envelope->operations.size() == 1);
      CHECK_FALSE(std::holds_alternative<Unknown>(envelope->operations[0]));
      // A frame of an older version may lack what has been appended since.
      if (version.path().filename() != version_folder(link::versions_spoken.max)) continue;
      const auto again = encode(*envelope, limit, samples::codes());
      REQUIRE(again);
      CHECK(hex(again->bytes()) == content_of(file.path()));
    }
  }
}

TEST_CASE("every version that is spoken has frames, and no frame is left of a message that is no more") {
  std::set<std::string> names;
  for (const auto& sample : samples::all()) CHECK(names.insert(sample.name + ".hex").second);
  for (unsigned version = link::versions_spoken.min; version <= link::versions_spoken.max; ++version) {
    CHECK(fs::exists(folder / version_folder(version)));
  }
  for (const auto& file : fs::directory_iterator(folder / version_folder(link::versions_spoken.max))) {
    INFO(file.path().string());
    CHECK(names.contains(file.path().filename().string()));
  }
}

TEST_CASE("every kind of message has a sample") {
  std::set<std::size_t> operations, handshakes, membership, jobs, clients, keepers, rings;
  for (const auto& sample : samples::all()) {
    operations.insert(sample.operation.index());
    if (const auto* one = std::get_if<Handshake>(&sample.operation)) handshakes.insert(one->index());
    if (const auto* one = std::get_if<MembershipMessage>(&sample.operation)) membership.insert(one->index());
    if (const auto* one = std::get_if<JobMessage>(&sample.operation)) jobs.insert(one->index());
    if (const auto* one = std::get_if<ClientMessage>(&sample.operation)) clients.insert(one->index());
    if (const auto* one = std::get_if<KeeperMessage>(&sample.operation)) keepers.insert(one->index());
    if (const auto* one = std::get_if<RingMessage>(&sample.operation)) rings.insert(one->index());
  }
  CHECK(operations.size() == std::variant_size_v<Operation> - 1);  // All but Unknown.
  CHECK(handshakes.size() == std::variant_size_v<Handshake>);
  CHECK(membership.size() == std::variant_size_v<MembershipMessage>);
  CHECK(jobs.size() == std::variant_size_v<JobMessage>);
  CHECK(clients.size() == std::variant_size_v<ClientMessage>);
  CHECK(keepers.size() == std::variant_size_v<KeeperMessage>);
  CHECK(rings.size() == std::variant_size_v<RingMessage>);
}

TEST_CASE("every field of every message is set in a sample") {
  // samples::all() sets a new field by its type. Where it cannot, or where the decoder wants a particular
  // value, samples.cpp must set the field.
  test::SaidFields said = samples::said();
  said.look(samples::envelope_of({samples::all().at(0).operation}).header);
  CHECK(said.left() == std::vector<std::string>{});
}

TEST_CASE("every field of every message arrives as it was sent") {
  for (const auto& sample : samples::all()) {
    INFO(sample.name << ": the schema, the codec's write or its read has not all fields of the value");
    const auto frame = encode(samples::envelope_of({sample.operation}), limit, samples::codes());
    REQUIRE(frame);
    const auto back = decode(frame->bytes(), limit, samples::codes());
    if (!back) FAIL(back.error().message());
    CHECK(test::same(back->operations.at(0), sample.operation));
  }
}
