// Failures of one process to write, or of the other to read, are told once and hold up nothing. Both ends of
// the two links are played in this process, with frames as bytes between them.

#include "nodes/transport/partner.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>

using namespace dag;
using net::Channel;
using transport::Partner;
using transport::PartnerNews;

namespace {

constexpr ClusterId cluster{7};
const Life here{{1}, {5}}, there{{2}, {5}};
const wire::CodeMap& codes = wire::CodeMap::of_this_process();
constexpr std::size_t frame_bytes_max = wire::bulk_frame_bytes_max;

struct Side {
  Side(Life self, Life peer, std::size_t encoded_bytes_max = transport::message_bytes_max)
      : partner({cluster, self, peer}, link::versions_spoken.max, codes, encoded_bytes_max) {}

  void take(PartnerNews&& news) {
    for (const transport::FrameOut& out : news.frames) {
      const auto frame =
          transport::encode(out, link::versions_spoken.max, frame_bytes_max, codes, news.broken);
      REQUIRE(frame);
      said.emplace_back(out.channel, *frame);
    }
    for (Error& why : news.broken) broken.push_back(std::move(why));
    for (transport::Delivered& delivered : news.delivered) {
      for (const wire::Operation& operation : delivered.operations) {
        if (const auto* note = std::get_if<wire::JobNote>(&operation)) heard.push_back(note->text);
        take_output(operation);
      }
      PartnerNews more;
      partner.handled(delivered.channel, delivered.count, delivered.charge_bytes, more);
      take(std::move(more));
    }
    if (!news.give_up.empty()) ++given_up;
  }
  void take_output(const wire::Operation& operation) {
    if (const auto* of_job = std::get_if<JobMessage>(&operation)) {
      if (const auto* data = std::get_if<message::Data>(of_job)) outputs.push_back(data->bytes);
    } else if (const auto* of_client = std::get_if<ClientMessage>(&operation)) {
      if (const auto* settled = std::get_if<client::TaskSettled>(of_client))
        outputs.push_back(settled->output);
    }
  }
  void says(wire::Operation operation) {
    PartnerNews news;
    partner.send(std::move(operation), now, news);
    take(std::move(news));
  }
  void says(std::string text) { says(wire::JobNote{{}, {}, 0, "task", "device", std::move(text)}); }
  void hears(Channel channel, const Blob& frame) {
    PartnerNews news;
    if (auto envelope = wire::decode(frame.bytes(), frame_bytes_max, codes)) {
      partner.on_frame(channel, std::move(*envelope), now, news);
    } else {
      const auto heading = wire::decode_heading(frame.bytes());
      REQUIRE(heading);
      partner.on_unreadable(channel, *heading, envelope.error(), now, news);
    }
    take(std::move(news));
  }
  void waits(Duration time) {
    now = now + time;
    PartnerNews news;
    partner.on_tick(now, news);
    take(std::move(news));
  }

  Partner partner;
  Instant now;
  std::deque<std::pair<Channel, Blob>> said;
  std::vector<std::string> heard;
  std::vector<Error> broken;
  std::vector<Blob> outputs;
  int given_up = 0;
};

void carry(Side& from, Side& to) {
  for (; !from.said.empty(); from.said.pop_front())
    to.hears(from.said.front().first, from.said.front().second);
}
/// Until everything is acknowledged, or for a minute.
void talk(Side& a, Side& b) {
  for (int i = 0; i < 600 && (i < 3 || !a.partner.quiet() || !b.partner.quiet()); ++i) {
    a.waits(std::chrono::milliseconds(100));
    b.waits(std::chrono::milliseconds(100));
    carry(a, b);
    carry(b, a);
  }
}

/// More than a receiver takes of such a text; by the control link, or in pieces by the other.
const std::string too_long(wire::text_bytes_max + 1, 'x');
const std::string far_too_long(3 * limits::bulk_chunk_bytes, 'x');

}  // namespace

TEST_CASE("what the receiver cannot read is told there once, and what comes behind it arrives") {
  Side a(here, there), b(there, here);
  const std::string& text = GENERATE_REF(too_long, far_too_long);
  a.says("before");
  a.says(text);
  a.says("after");
  a.says(std::string(wire::text_bytes_max, 'y'));
  talk(a, b);
  CHECK(b.heard.size() == 3);
  CHECK(std::count(b.heard.begin(), b.heard.end(), "after") == 1);
  REQUIRE(b.broken.size() == 1);
  CHECK(b.broken[0].code == ErrorCode::frame_invalid);
  CHECK_THAT(b.broken[0].what, Catch::Contains(to_string(here)) && Catch::Contains("JobNote.text"));
  CHECK(a.broken.empty());
  CHECK(a.partner.quiet());
  CHECK(b.partner.quiet());
}

TEST_CASE("a repeat of a frame that cannot be read is no news, and credit comes back for each") {
  Side a(here, there), b(there, here);
  for (std::uint32_t i = 0; i < 3 * limits::credit_operations / limits::flush_operations; ++i) {
    // Full frames: one operation spoils the others of its frame.
    for (std::size_t j = 1; j < limits::flush_operations; ++j) a.says("");
    a.says(too_long);
    a.waits(std::chrono::milliseconds(1));
    const auto twice = a.said;
    carry(a, b);
    for (const auto& [channel, frame] : twice) b.hears(channel, frame);
    talk(a, b);
    REQUIRE(a.partner.quiet());
  }
  const std::size_t told = b.broken.size();
  a.says("after");
  talk(a, b);
  CHECK(b.heard.back() == "after");
  CHECK(b.broken.size() == told);
  CHECK(told == 3 * limits::credit_operations / limits::flush_operations);
}

TEST_CASE("what cannot be written is told by who was to say it, with its kind and size") {
  Side a(here, there), b(there, here);
  std::string kind;
  a.says("before");
  SECTION("since it has no form as bytes") {
    message::Lend lend;
    lend.job = {77};
    lend.attempt.code.thunk = &kind;
    a.says(wire::Operation(JobMessage(std::move(lend))));
    kind = "Lend of job77, ";
  }
  SECTION("since it is too large") {
    const Blob part = Blob::make_on_heap(std::size_t{1} << 20, [](std::byte* bytes) { *bytes = {}; });
    message::Report report;
    report.job = {77};
    report.had.resize(600);
    for (auto& had : report.had) had.record.value = part;
    a.says(wire::Operation(JobMessage(std::move(report))));
    kind = "Report of job77, 629";
  }
  a.says("after");
  talk(a, b);
  CHECK(b.heard == std::vector<std::string>{"before", "after"});
  REQUIRE(a.broken.size() == 1);
  CHECK(a.broken[0].code == ErrorCode::frame_invalid);
  CHECK_THAT(a.broken[0].what,
             Catch::StartsWith(kind) && Catch::Contains(" bytes, cannot be sent to " + to_string(there)));
  CHECK(b.broken.empty());
  CHECK(a.partner.quiet());
}

TEST_CASE("an output that is too large to be encoded follows its message, whatever its size") {
  constexpr std::size_t encoded_bytes_max = 256 * 1024;
  Side a(here, there, encoded_bytes_max), b(there, here);
  const std::size_t size_bytes = GENERATE(as<std::size_t>{}, 200 * 1024, 300 * 1024, limits::bulk_chunk_bytes,
                                          3 * limits::bulk_chunk_bytes + 5);
  const Blob output = Blob::make_on_heap(size_bytes, [&](std::byte* to) {
    for (std::size_t i = 0; i < size_bytes; ++i) to[i] = std::byte(i % 251);
  });
  a.says("before");
  SECTION("to a client") {
    a.says(ClientMessage(client::TaskSettled{{77}, 3, Outcome::finished, output, {}}));
  }
  SECTION("to a process of the job") {
    message::Data data;
    data.job = {77};
    data.bytes = output;
    a.says(JobMessage(std::move(data)));
  }
  a.says(far_too_long.substr(0, 10));
  talk(a, b);
  CHECK(a.broken.empty());
  CHECK(b.broken.empty());
  REQUIRE(b.outputs.size() == 1);
  CHECK(b.outputs[0].same_bytes(output));
  CHECK(b.heard.size() == 2);
}

TEST_CASE("who sends nothing but what is no frame is given up, once") {
  Side a(here, there), b(there, here);
  const auto refuse = [&b](std::uint32_t times) {
    for (std::uint32_t i = 0; i < times; ++i) {
      PartnerNews news;
      b.partner.on_refused(Channel::control, "a frame was cut off", news);
      b.take(std::move(news));
    }
  };
  refuse(transport::refusals_max - 1);
  a.says("between");
  talk(a, b);
  REQUIRE(b.heard.size() == 1);
  refuse(transport::refusals_max - 1);
  CHECK(b.broken.empty());
  refuse(transport::refusals_max + 1);
  REQUIRE(b.broken.size() == 1);
  CHECK_THAT(b.broken[0].what, Catch::Contains("a frame was cut off"));
  CHECK(b.given_up == 1);
}
