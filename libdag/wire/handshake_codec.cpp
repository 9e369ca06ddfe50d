// schema/handshake.capnp as values.

#include "libdag/wire/codec/weigh.hpp"

namespace dag::wire {

std::size_t words(const Handshake& message) {
  return words_of<schema::Handshake> + std::visit([](const auto& one) { return field_words(one); }, message);
}

void write(schema::Handshake::Builder to, const Handshake& message) {
  const auto write_addresses = [](auto builder, const auto& value) {
    if (!value.build.empty()) builder.setBuild(as_text(value.build));
    if (!value.control_address.empty()) builder.setControlAddress(as_text(value.control_address));
    if (!value.bulk_address.empty()) builder.setBulkAddress(as_text(value.bulk_address));
  };
  std::visit(Overloaded{[&](const link::Hello& hello) {
                          auto builder = to.initHello();
                          builder.setCluster(hello.cluster.value);
                          builder.setVersionMin(hello.versions.min);
                          builder.setVersionMax(hello.versions.max);
                          builder.setFrom(word_of(hello.from));
                          write_addresses(builder, hello);
                        },
                        [&](const link::Welcome& welcome) {
                          auto builder = to.initWelcome();
                          builder.setCluster(welcome.cluster.value);
                          builder.setVersion(welcome.version);
                          builder.setFrom(word_of(welcome.from));
                          write_addresses(builder, welcome);
                        },
                        [&](const link::HelloRefused& refused) {
                          auto builder = to.initRefused();
                          builder.setFrom(word_of(refused.from));
                          builder.setCode(refused.code);
                          if (!refused.what.empty()) builder.setWhat(as_text(refused.what));
                          if (!refused.hint.empty()) builder.setHint(as_text(refused.hint));
                        }},
             message);
}

std::optional<Handshake> read(schema::Handshake::Reader from, Reading&) {
  switch (from.which()) {
    case schema::Handshake::HELLO: {
      const auto reader = from.getHello();
      link::Hello hello;
      hello.cluster.value = reader.getCluster();
      hello.versions = {reader.getVersionMin(), reader.getVersionMax()};
      hello.from = life_from(reader.getFrom());
      hello.build = text_from(reader.getBuild(), build_bytes_max, "Hello.build");
      hello.control_address =
          text_from(reader.getControlAddress(), address_bytes_max, "Hello.controlAddress");
      hello.bulk_address = text_from(reader.getBulkAddress(), address_bytes_max, "Hello.bulkAddress");
      return hello;
    }
    case schema::Handshake::WELCOME: {
      const auto reader = from.getWelcome();
      link::Welcome welcome;
      welcome.cluster.value = reader.getCluster();
      welcome.version = reader.getVersion();
      welcome.from = life_from(reader.getFrom());
      welcome.build = text_from(reader.getBuild(), build_bytes_max, "Welcome.build");
      welcome.control_address =
          text_from(reader.getControlAddress(), address_bytes_max, "Welcome.controlAddress");
      welcome.bulk_address = text_from(reader.getBulkAddress(), address_bytes_max, "Welcome.bulkAddress");
      return welcome;
    }
    case schema::Handshake::REFUSED: {
      const auto reader = from.getRefused();
      link::HelloRefused refused;
      refused.from = life_from(reader.getFrom());
      refused.code = reader.getCode();
      refused.what = text_from(reader.getWhat(), text_bytes_max, "HelloRefused.what");
      refused.hint = text_from(reader.getHint(), text_bytes_max, "HelloRefused.hint");
      return refused;
    }
  }
  return std::nullopt;
}

}  // namespace dag::wire
