#pragma once
// Cap'n Proto structs as arguments and results of tasks. Include it where you use them: it is the one public
// header that needs another library's headers (libcapnp-dev), and <dag/dag.hpp> does not include it.

#include <capnp/message.h>
#include <capnp/serialize.h>

#include <cstring>
#include <memory>

#include "dag/codec.hpp"

namespace dag {

/// A message whose root is a `Schema` (the generated struct): immutable, shared by copies.
/// `message->getName()` reads it; a default one is the schema's default.
template <class Schema>
class Capnp {
 public:
  Capnp() : Capnp(make([](auto) {})) {}
  /// `fill(Schema::Builder)` writes it.
  template <class Fill>
  static Capnp make(Fill&& fill) {
    capnp::MallocMessageBuilder builder;
    fill(builder.initRoot<Schema>());
    return Capnp(capnp::messageToFlatArray(builder));
  }

  const typename Schema::Reader& operator*() const { return content_->root; }
  const typename Schema::Reader* operator->() const { return &content_->root; }

 private:
  friend struct Codec<Capnp<Schema>>;
  struct Content {
    explicit Content(kj::Array<capnp::word> given)
        : words(std::move(given)), reader(words, options()), root(reader.getRoot<Schema>()) {}
    // The traversal limit is off, because an output may be read any number of times. Cap'n Proto checks the
    // bounds of pointers in any case.
    static capnp::ReaderOptions options() { return {std::uint64_t{1} << 60, 64}; }
    kj::Array<capnp::word> words;
    capnp::FlatArrayMessageReader reader;
    typename Schema::Reader root;
  };
  explicit Capnp(kj::Array<capnp::word> words)
      : content_(std::make_shared<const Content>(std::move(words))) {}

  std::shared_ptr<const Content> content_;
};

/// In Cap'n Proto's own serialisation, after its length. Other bytes are refused with value_invalid.
template <class Schema>
struct Codec<Capnp<Schema>> {
  static void encode(Writer& writer, const Capnp<Schema>& message) {
    const auto bytes = message.content_->words.asBytes();
    writer.count(bytes.size());
    writer.append(bytes.begin(), bytes.size());
  }
  static Capnp<Schema> decode(Reader& reader) {
    const auto bytes = reader.take(reader.count());
    auto words = kj::heapArray<capnp::word>(bytes.size() / sizeof(capnp::word));
    if (!bytes.empty()) std::memcpy(words.begin(), bytes.data(), words.size() * sizeof(capnp::word));
    try {
      return Capnp<Schema>(std::move(words));
    } catch (const kj::Exception& error) {
      throw Failure({ErrorCode::value_invalid,
                     std::string("not a Cap'n Proto message: ") + error.getDescription().cStr()});
    }
  }
};

}  // namespace dag
