#pragma once
// A scenario as text: lines that a test collects, compared with a file of tests/scenarios/transcripts.
// DAG_BLESS=1 writes files that are missing or differ; the difference is to be reviewed.

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "libdag/base/time.hpp"
#include "tests/support/file_text.hpp"

namespace dag::test {

class Transcript {
 public:
  /// `about`: the first lines of the file, for readers.
  explicit Transcript(const std::string& about) : text_(about + "\n") {}

  /// The scenario does something, or a reader should look.
  void step(const std::string& what) { text_ += "\n== " + what + "\n"; }
  void line(Instant at, const std::string& what) {
    char time[40];
    std::snprintf(time, sizeof time, "%9.3f ms  ",
                  std::chrono::duration<double, std::milli>(at.since_start).count());
    line(time + what);
  }
  void line(const std::string& what) {
    text_ += what;
    while (text_.back() == ' ') text_.pop_back();
    text_ += '\n';
  }

  void check(const std::string& name) const {
    const char* sources = std::getenv("DAG_TEST_SOURCE");
    const std::filesystem::path path = std::filesystem::path(sources != nullptr ? sources : "tests") /
                                       "scenarios" / "transcripts" / (name + ".txt");
    const char* bless = std::getenv("DAG_BLESS");
    if (bless != nullptr && std::string(bless) == "1" && text_of(path) != text_) std::ofstream(path) << text_;
    INFO(path.string() << ": DAG_BLESS=1 writes it; review the difference");
    CHECK(text_ == text_of(path));
  }

 private:
  std::string text_;
};

}  // namespace dag::test
