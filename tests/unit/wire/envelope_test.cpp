// Values come out as they went in; bytes that cannot be right are an Error, never an exception.
#include "libdag/wire/envelope.hpp"

#include <catch2/catch.hpp>
#include <cstring>

#include "tests/support/samples.hpp"

using namespace dag;
using namespace dag::wire;

namespace {

std::vector<Operation> every_operation() {
  std::vector<Operation> operations;
  for (auto& sample : samples::all()) operations.push_back(std::move(sample.operation));
  return operations;
}

Blob encoded(const Envelope& envelope) {
  auto frame = encode(envelope, limits::control_frame_bytes_max, samples::codes());
  if (!frame) FAIL(frame.error().message());
  return *frame;
}
Blob encoded(std::vector<Operation> operations) {
  return encoded(samples::envelope_of(std::move(operations)));
}
Result<Envelope> decoded(std::span<const std::byte> frame) {
  return decode(frame, limits::control_frame_bytes_max, samples::codes());
}

std::vector<std::byte> copy(const Blob& blob) { return {blob.bytes().begin(), blob.bytes().end()}; }

template <class Number>
void put(std::vector<std::byte>& bytes, std::size_t offset, Number number) {
  REQUIRE(offset + sizeof number <= bytes.size());
  std::memcpy(bytes.data() + offset, &number, sizeof number);
}

// Where things lie in a frame with one operation: segment table and root pointer (16 bytes), the envelope (12
// words of numbers and a pointer), the tag of the list, the operation (its kind, a pointer), the
// conversation's struct.
constexpr std::size_t version_at = 16;
constexpr std::size_t list_tag_at = 16 + 13 * 8;
constexpr std::size_t operation_at = list_tag_at + 8;
constexpr std::size_t conversation_at = operation_at + 16;

}  // namespace

TEST_CASE("everything that can be said survives the way, alone and together") {
  // Values are encoded again: equal bytes are equal values, since a value has only one form as bytes.
  for (const auto& sample : samples::all()) {
    INFO(sample.name);
    const Blob frame = encoded({sample.operation});
    const auto back = decoded(frame.bytes());
    if (!back) FAIL(back.error().message());
    CHECK(back->operations.at(0).index() == sample.operation.index());
    CHECK(frame.same_bytes(encoded(*back)));
  }
  const Blob together = encoded(every_operation());
  const auto back = decoded(together.bytes());
  if (!back) FAIL(back.error().message());
  CHECK(back->header == samples::envelope_of(every_operation()).header);
  CHECK(together.same_bytes(encoded(*back)));
}

TEST_CASE("a bare frame says as much as its header, and is small") {
  Envelope bare = samples::envelope_of({});
  bare.header.seq = 0;
  const auto frame = encode(bare);
  REQUIRE(frame);
  CHECK(frame->size_bytes() <= frame_overhead_bytes);
  CHECK(decode(frame->bytes())->header == bare.header);
  CHECK_FALSE(is_loose(bare));
}

TEST_CASE("a frame weighs its overhead and the sum of its operations, exactly") {
  const std::size_t empty = encode(samples::envelope_of({}))->size_bytes();
  for (const auto& sample : samples::all()) {
    INFO(sample.name);
    for (const std::size_t count : {1u, 3u}) {
      const std::vector<Operation> operations(count, sample.operation);
      const Blob frame = encoded(operations);
      CHECK(frame.size_bytes() == empty + 8 + count * size_bytes(sample.operation));
      CHECK(frame.size_bytes() <= frame_overhead_bytes + count * size_bytes(sample.operation));
    }
  }
}

TEST_CASE("a frame may lie anywhere in memory, as most of ZeroMQ's do") {
  const Blob frame = encoded(every_operation());
  std::vector<std::byte> room(frame.size_bytes() + 8);
  for (std::size_t shift = 0; shift < 8; ++shift) {
    std::memcpy(room.data() + shift, frame.bytes().data(), frame.size_bytes());
    const auto back = decoded(std::span(room).subspan(shift, frame.size_bytes()));
    REQUIRE(back);
    CHECK(frame.same_bytes(encoded(*back)));
  }
}

TEST_CASE("a frame that is cut off anywhere, or longer than it says, is refused") {
  const Blob frame = encoded(every_operation());
  for (std::size_t size = 0; size < frame.size_bytes(); ++size) {
    const auto back = decoded(frame.bytes().first(size));
    REQUIRE_FALSE(back);
    CHECK(back.error().code == ErrorCode::frame_invalid);
  }
  auto longer = copy(frame);
  longer.resize(longer.size() + 8);
  CHECK_FALSE(decoded(longer));
}

TEST_CASE("of a frame that is refused, the header is understood where it can be") {
  const Envelope envelope = samples::envelope_of(every_operation());
  const Blob frame = encoded(envelope);
  auto bytes = copy(frame);
  std::size_t operations = envelope.operations.size();
  SECTION("as of one that is not") {}
  SECTION("an operation says nothing") { put<std::uint16_t>(bytes, operation_at, 0); }
  SECTION("the operations cannot be found") {
    put<std::uint32_t>(bytes, list_tag_at - 8, 0x7fff'fffd);
    operations = 1;
  }
  const auto heading = decode_heading(bytes);
  REQUIRE(heading);
  CHECK(heading->header == envelope.header);
  CHECK(heading->operations == operations);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(decode_heading(std::span(bytes).first(size)));
}

TEST_CASE("a frame larger than allowed is neither written nor looked at") {
  const Envelope envelope = samples::envelope_of(every_operation());
  const Blob frame = encoded(envelope);
  CHECK(encode(envelope, frame.size_bytes(), samples::codes()));
  CHECK_FALSE(encode(envelope, frame.size_bytes() - 8, samples::codes()));
  CHECK(decode(frame.bytes(), frame.size_bytes(), samples::codes()));
  const auto refused = decode(frame.bytes(), frame.size_bytes() - 1, samples::codes());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::frame_invalid);
}

TEST_CASE("what a newer peer says is named, not guessed, and its neighbours are understood") {
  auto bytes = copy(*encode(samples::envelope_of({samples::all().at(1).operation})));
  REQUIRE(decode(bytes));
  SECTION("a message of a conversation we know") {
    put<std::uint16_t>(bytes, conversation_at, 777);
    const auto back = decode(bytes);
    REQUIRE(back);
    const Unknown unknown = std::get<Unknown>(back->operations.at(0));
    CHECK(unknown == Unknown{2, 777});
    CHECK(unimplemented_answer(unknown) == Unimplemented{2, 777});
  }
  SECTION("a whole conversation") {
    put<std::uint16_t>(bytes, operation_at, 999);
    const auto back = decode(bytes);
    REQUIRE(back);
    CHECK(std::get<Unknown>(back->operations.at(0)) == Unknown{999, 65535});
  }
  SECTION("an operation that nobody set is nothing a newer peer says") {
    put<std::uint16_t>(bytes, operation_at, 0);
    CHECK_FALSE(decode(bytes));
  }
  SECTION("beside one that is known") {
    auto two = copy(*encode(samples::envelope_of({samples::all().at(1).operation, Unimplemented{1, 2}})));
    put<std::uint16_t>(two, operation_at, 999);
    const auto back = decode(two);
    REQUIRE(back);
    CHECK(std::holds_alternative<Unknown>(back->operations.at(0)));
    CHECK(std::get<Unimplemented>(back->operations.at(1)) == Unimplemented{1, 2});
  }
}

TEST_CASE("a foreign version is refused, except that a handshake is always understood") {
  auto hello = copy(*encode(samples::envelope_of({samples::all().at(1).operation})));
  auto other = copy(*encode(samples::envelope_of({Unimplemented{1, 2}})));
  for (const std::uint16_t version : {std::uint16_t{0}, std::uint16_t{9}}) {
    put(hello, version_at, version);
    put(other, version_at, version);
    REQUIRE(decode(hello));
    CHECK(decode(hello)->version == version);
    const auto refused = decode(other);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::peer_version);
  }
}

TEST_CASE("lists and texts beyond their limits are refused") {
  SECTION("claims") {
    membership::Gossip gossip;
    gossip.claims.resize(members_max + 1);
    const auto refused = decode(encode(samples::envelope_of({MembershipMessage{gossip}}))->bytes());
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().what, Catch::Contains("Membership.claims has 1025 elements"));
  }
  SECTION("a text") {
    membership::Join join{std::string(address_bytes_max + 1, 'x'), {}};
    CHECK_FALSE(decode(encode(samples::envelope_of({MembershipMessage{join}}))->bytes()));
  }
  SECTION("operations") {
    const std::vector<Operation> many(operations_per_frame_max + 1, Unimplemented{});
    CHECK_FALSE(encode(samples::envelope_of(many)));
  }
  SECTION("a list that claims to be long without being large") {
    // The element size of the operations' list becomes zero, their number half a billion: CVE-2015-2312's
    // trick.
    auto bytes = copy(*encode(samples::envelope_of({Unimplemented{1, 2}})));
    put<std::uint64_t>(bytes, list_tag_at, std::uint64_t{0x1FFFFFFF} << 2);
    CHECK_FALSE(decode(bytes));
  }
}

TEST_CASE("a state of membership that we do not know is not guessed") {
  membership::Gossip gossip;
  gossip.claims.resize(1);
  gossip.claims[0].state = static_cast<MemberState>(4);
  CHECK_FALSE(decode(encode(samples::envelope_of({MembershipMessage{gossip}}))->bytes()));
}

TEST_CASE("a numbered frame may not be charged for much less than it weighs") {
  Envelope envelope = samples::envelope_of({MembershipMessage{membership::Ping{1, samples::claims()}}});
  envelope.header.charge_bytes = 1;
  CHECK_FALSE(decode(encode(envelope)->bytes()));
  envelope.header.seq = 0;  // Loose: nobody is charged.
  CHECK(decode(encode(envelope)->bytes()));
}

TEST_CASE("to send what one has not understood is a bug") { CHECK_THROWS_AS(size_bytes(Unknown{}), Bug); }
