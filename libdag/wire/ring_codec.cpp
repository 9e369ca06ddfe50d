// schema/ring.capnp as values.

#include "libdag/wire/codec/weigh.hpp"

namespace dag::wire {

template <>
struct Below<ring::Closed> {  // A member of the union is written even when it is empty.
  static std::size_t words(const ring::Closed& closed) { return written_text_words(closed.why); }
};

std::size_t words(const RingMessage& message) {
  return words_of<schema::Ring> + std::visit([](const auto& one) { return field_words(one); }, message);
}

void write(schema::Ring::Builder to, const RingMessage& message) {
  std::visit(Overloaded{[&](const ring::Offer& offer) {
                          auto builder = to.initOffer();
                          if (!offer.host.boot.empty()) builder.setBoot(as_text(offer.host.boot));
                          builder.setProcessNamespace(offer.host.process_namespace);
                          builder.setProcess(offer.process);
                          builder.setInboxFile(offer.inbox_file);
                          builder.setDoorbellFile(offer.doorbell_file);
                          builder.setInboxNonce(offer.inbox_nonce);
                          builder.setDoorbellNonce(offer.doorbell_nonce);
                          builder.setCapacityBytes(offer.capacity_bytes);
                        },
                        [&](const ring::Ready&) { to.setReady(); },
                        [&](const ring::Closed& closed) { to.setClosed(as_text(closed.why)); },
                        [&](const ring::HandOver& over) {
                          auto builder = to.initHandOver();
                          builder.setNumber(over.number);
                          builder.setProcess(over.where.process);
                          builder.setFile(over.where.file);
                          builder.setNonce(over.where.nonce);
                          builder.setCapacityBytes(over.where.capacity_bytes);
                          builder.setSizeBytes(over.where.size_bytes);
                        },
                        [&](const ring::HandBack& back) {
                          auto builder = to.initHandBack();
                          builder.setNumber(back.number);
                          builder.setRead(back.read);
                        },
                        [&](const ring::StreamOver& over) {
                          auto builder = to.initStreamOver();
                          builder.setNumber(over.number);
                          builder.setSecret(over.secret);
                          builder.setPort(over.port);
                          builder.setSizeBytes(over.size_bytes);
                        }},
             message);
}

std::optional<RingMessage> read(schema::Ring::Reader from, Reading&) {
  switch (from.which()) {
    case schema::Ring::OFFER: {
      const auto reader = from.getOffer();
      ring::Offer offer;
      offer.host.boot = text_from(reader.getBoot(), name_bytes_max, "RingOffer.boot");
      offer.host.process_namespace = reader.getProcessNamespace();
      offer.process = reader.getProcess();
      offer.inbox_file = reader.getInboxFile();
      offer.doorbell_file = reader.getDoorbellFile();
      offer.inbox_nonce = reader.getInboxNonce();
      offer.doorbell_nonce = reader.getDoorbellNonce();
      offer.capacity_bytes = reader.getCapacityBytes();
      return offer;
    }
    case schema::Ring::READY:
      return ring::Ready{};
    case schema::Ring::CLOSED:
      return ring::Closed{text_from(from.getClosed(), text_bytes_max, "Ring.closed")};
    case schema::Ring::HAND_OVER: {
      const auto reader = from.getHandOver();
      return ring::HandOver{reader.getNumber(),
                            {reader.getProcess(), reader.getFile(), reader.getNonce(),
                             reader.getCapacityBytes(), reader.getSizeBytes()}};
    }
    case schema::Ring::HAND_BACK: {
      const auto reader = from.getHandBack();
      return ring::HandBack{reader.getNumber(), reader.getRead()};
    }
    case schema::Ring::STREAM_OVER: {
      const auto reader = from.getStreamOver();
      return ring::StreamOver{reader.getNumber(), reader.getSecret(), reader.getPort(),
                              reader.getSizeBytes()};
    }
  }
  return std::nullopt;
}

}  // namespace dag::wire
