// Cap'n Proto structs as values of tasks.

#include <catch2/catch.hpp>

#include "dag/capnp.hpp"
#include "libdag/schema/handshake.capnp.h"

using Message = dag::Capnp<dag::schema::Hello>;

TEST_CASE("a Cap'n Proto struct goes through bytes and back") {
  const Message message = Message::make([](dag::schema::Hello::Builder hello) {
    hello.setBuild("abc");
    hello.setVersionMax(7);
  });
  const dag::Blob blob = dag::detail::to_blob<Message>(message);
  const Message again = dag::detail::from_blob<Message>(blob);
  CHECK(again->getVersionMax() == 7);
  CHECK(std::string(again->getBuild().cStr()) == "abc");
  CHECK(Message()->getVersionMax() == 0);
}

TEST_CASE("inside other values too") {
  const std::vector<Message> several{Message(), Message::make([](auto hello) { hello.setVersionMin(3); })};
  const auto again =
      dag::detail::from_blob<std::vector<Message>>(dag::detail::to_blob<std::vector<Message>>(several));
  REQUIRE(again.size() == 2);
  CHECK(again[1]->getVersionMin() == 3);
}

TEST_CASE("bytes that are no message are refused") {
  dag::Writer writer;
  writer.count(16);
  const std::uint64_t nonsense[2] = {0xFFFF'FFFF'FFFF'FFFF, 0xFFFF'FFFF'FFFF'FFFF};
  writer.append(nonsense, sizeof nonsense);
  CHECK_THROWS_AS(dag::detail::from_blob<Message>(dag::Blob(writer.bytes())), dag::Failure);
}
