// Values as bytes and back by the public words, and which types say that they can travel.

#include "dag/codec.hpp"

#include <catch2/catch.hpp>

#include <chrono>

using namespace dag;

namespace {

struct Tree {
  int value = 0;
  std::vector<Tree> branches;
  bool operator==(const Tree&) const = default;
};
/// Has a constructor, so it needs a codec of its own; and no default.
class Range {
 public:
  explicit Range(int from, int to) : from_(from), to_(to) {}
  int from() const { return from_; }
  int to() const { return to_; }
  bool operator==(const Range&) const = default;

 private:
  int from_, to_;
};
struct Report {
  std::string title;
  Range range;
  std::map<std::string, std::optional<Tree>> trees;
  std::array<double, 3> axes;
  bool operator==(const Report&) const = default;
};
struct Nothing {
  bool operator==(const Nothing&) const = default;
};

struct Array {
  int n;
  int values[4];
};
struct Text {
  char text[100];
};
struct Texts {
  int n;
  std::string texts[3];
  int m;
};
struct Derived : Nothing {
  int n;
};
struct Inside {
  std::vector<std::variant<int, Derived>> all;
};

}  // namespace

template <>
struct dag::Codec<Range> {
  static void encode(dag::Writer& writer, const Range& range) {
    dag::encode(writer, range.from());
    dag::encode(writer, range.to());
  }
  static Range decode(dag::Reader& reader) {
    const int from = dag::decode<int>(reader);
    return Range(from, dag::decode<int>(reader));
  }
};

TEST_CASE("structs of the user's, trees of them, and types with a codec come back as they were") {
  const Report report{"a title",
                      Range(-1, 7),
                      {{"oak", Tree{1, {{2, {}}, {3, {{4, {}}}}}}}, {"none", std::nullopt}},
                      {1.5, 2, -3}};
  Writer writer;
  dag::encode(writer, report);
  dag::encode(writer, true);
  dag::encode(writer, Nothing{});
  dag::encode(writer, std::vector<bool>{true, false, true});
  Reader reader(writer.bytes());
  CHECK(dag::decode<Report>(reader) == report);
  CHECK(dag::decode<bool>(reader));
  CHECK(dag::decode<Nothing>(reader) == Nothing{});
  CHECK(dag::decode<std::vector<bool>>(reader) == std::vector<bool>{true, false, true});
  CHECK(reader.at_end());
}

TEST_CASE("a value that ends too early is no value") {
  Writer writer;
  dag::encode(writer, std::string("abcdefgh"));
  const auto bytes = writer.bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Reader reader(bytes.first(size));
    CHECK_THROWS_AS(dag::decode<std::string>(reader), Failure);
  }
}

TEST_CASE("why a type cannot travel is found in whatever contains it") {
  using detail::Refusal, detail::refusal, detail::Use;
  STATIC_REQUIRE(refusal<Report, Use::result>() == Refusal::nothing);
  STATIC_REQUIRE(refusal<Array, Use::argument>() == Refusal::c_array);
  STATIC_REQUIRE(refusal<Text, Use::argument>() == Refusal::c_array);
  STATIC_REQUIRE(refusal<std::optional<Texts>, Use::argument>() == Refusal::c_array);
  STATIC_REQUIRE(refusal<Derived, Use::argument>() == Refusal::base_class);
  STATIC_REQUIRE(refusal<Inside, Use::argument>() == Refusal::base_class);
  STATIC_REQUIRE(refusal<std::pair<int, const char*>, Use::argument>() == Refusal::text_pointer);
  STATIC_REQUIRE(refusal<std::map<int, double*>, Use::argument>() == Refusal::pointer);
  STATIC_REQUIRE(refusal<std::span<int>, Use::argument>() == Refusal::writable_span);
  STATIC_REQUIRE(refusal<std::chrono::seconds, Use::argument>() == Refusal::unknown);
}

TEST_CASE("a view can be an argument, and no part of a result") {
  using detail::Refusal, detail::refusal, detail::Use;
  struct Named {
    int n;
    std::string_view name;
  };
  STATIC_REQUIRE(refusal<std::span<const double>, Use::argument>() == Refusal::nothing);
  STATIC_REQUIRE(refusal<std::vector<Named>, Use::argument>() == Refusal::nothing);
  STATIC_REQUIRE(refusal<std::span<const double>, Use::result>() == Refusal::view);
  STATIC_REQUIRE(refusal<std::span<double>, Use::result>() == Refusal::view);
  STATIC_REQUIRE(refusal<std::vector<Named>, Use::result>() == Refusal::view);
  STATIC_REQUIRE(refusal<std::variant<int, std::string_view>, Use::result>() == Refusal::view);
}
