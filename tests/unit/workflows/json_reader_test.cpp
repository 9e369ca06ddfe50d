// Our reader of JSON against a library's.

#include "libdag/workflows/json_reader.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "libdag/base/random.hpp"

using namespace dag;

namespace {

nlohmann::json library_form(const JsonValue& value) {
  if (const auto* flag = value.as<bool>()) return *flag;
  if (const auto* number = value.as<double>()) return *number;
  if (const auto* text = value.as<std::string>()) return *text;
  if (const auto* items = value.as<JsonValue::Array>()) {
    auto array = nlohmann::json::array();
    for (const JsonValue& item : *items) array.push_back(library_form(item));
    return array;
  }
  if (const auto* members = value.as<JsonValue::Object>()) {
    auto object = nlohmann::json::object();
    for (const auto& [name, member] : *members) object[name] = library_form(member);
    return object;
  }
  return nullptr;
}

nlohmann::json random_value(Random& random, int depth) {
  switch (random.below(depth > 3 ? 5 : 7)) {
    case 0:
      return nullptr;
    case 1:
      return random.chance(0.5);
    case 2:
      return static_cast<double>(static_cast<std::int64_t>(random.next())) / 1e9;
    case 3:
      return static_cast<double>(random.below(100));
    case 4: {
      std::string text;
      const std::string_view letters[] = {"a", "\"",       "\\",           "\n",
                                          "/", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
      for (std::uint64_t i = random.below(6); i > 0; --i) text += letters[random.below(8)];
      return text;
    }
    case 5: {
      auto array = nlohmann::json::array();
      for (std::uint64_t i = random.below(5); i > 0; --i) array.push_back(random_value(random, depth + 1));
      return array;
    }
    default: {
      auto object = nlohmann::json::object();
      for (std::uint64_t i = random.below(5); i > 0; --i) {
        object["k" + std::to_string(random.below(9))] = random_value(random, depth + 1);
      }
      return object;
    }
  }
}

}  // namespace

TEST_CASE("json: what a library writes is read back", "[json]") {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const nlohmann::json value = random_value(random, 0);
    const std::string text = value.dump(random.chance(0.5) ? 2 : -1, ' ', random.chance(0.5));
    CAPTURE(text);
    const Result<JsonValue> read = read_json(text);
    REQUIRE(read);
    REQUIRE(library_form(*read) == value);
  }
}

TEST_CASE("json: both accept the same damaged texts", "[json]") {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    std::string text = random_value(random, 0).dump();
    const std::string_view pieces = "{}[],:\"\\0123456789.eE+-truefalsn u";
    text[random.below(text.size())] = pieces[random.below(pieces.size())];
    CAPTURE(text);
    const bool accepted = static_cast<bool>(read_json(text));
    // The library refuses text that is no UTF-8; ours hands it on.
    if (nlohmann::json::accept(text)) {
      REQUIRE(accepted);
    } else if (accepted) {
      const bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
      REQUIRE_FALSE(ascii);
    }
  }
}

TEST_CASE("json: errors say where", "[json]") {
  const auto [text, what] = GENERATE(table<std::string, std::string>({
      {"", "line 1, column 1: this is not JSON: it ends where a value should be"},
      {"1 2", "line 1, column 3: this is not JSON: something follows the value"},
      {"{\n \"a\" 1}", "line 2, column 6: this is not JSON: expected : behind a member's name"},
      {"[1 2]", "line 1, column 4: this is not JSON: expected , or ] in an array"},
      {"\"a", "line 1, column 3: this is not JSON: a string does not end"},
      {"\"\\x\"", "line 1, column 4: this is not JSON: an unknown escape inside a string"},
      {"\"\\ud800\"", "line 1, column 8: this is not JSON: half of a surrogate pair"},
      {"01", "line 1, column 3: this is not JSON: a number begins with 0"},
      {"1e999", "line 1, column 6: this is not JSON: a number is too large"},
      {"nul", "line 1, column 1: this is not JSON: unknown word"},
  }));
  CAPTURE(text);
  const Result<JsonValue> read = read_json(text);
  REQUIRE_FALSE(read);
  CHECK(read.error().what == what);
}

TEST_CASE("json: deep nesting is refused instead of followed", "[json]") {
  CHECK(read_json(std::string(60, '[') + std::string(60, ']')));
  const Result<JsonValue> deep = read_json(std::string(1'000'000, '['));
  REQUIRE_FALSE(deep);
  CHECK(deep.error().what.find("nested too deeply") != std::string::npos);
}
