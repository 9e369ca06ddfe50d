#pragma once
// Reads the stdout and stderr of a job's process out of the file that it writes to, for a journal. Decides
// the pieces, and which of too much output is left out. The process never waits.

#include <cstdint>
#include <string>
#include <vector>

#include "libdag/base/owned_file.hpp"
#include "libdag/journal/event.hpp"

namespace dag {

class PrintedOutput {
 public:
  /// Size of a piece: it joins lines; a longer line is cut.
  static constexpr std::size_t piece_bytes_max = std::size_t{16} << 10;
  /// Limit of one call of take(): a journal has more to do.
  static constexpr std::size_t take_bytes_max = std::size_t{256} << 10;
  /// A reader that is further behind than this skips older output.
  static constexpr std::uint64_t behind_bytes_max = std::uint64_t{8} << 20;
  /// Bytes of read output that stay in the file, up to twice as many; the disk gets the rest back.
  static constexpr std::uint64_t kept_bytes = std::uint64_t{16} << 20;

  /// A file that cannot be opened says nothing.
  explicit PrintedOutput(const std::string& file);

  /// The output since the last call, oldest first. An unfinished line waits for its end; `last`: it is taken
  /// as it is.
  std::vector<event::Printed> take(bool last);

 private:
  void pass_over(std::uint64_t to);
  void give_back();

  OwnedFile file_;
  std::uint64_t read_ = 0;        ///< bytes taken
  std::uint64_t given_back_ = 0;  ///< a multiple of the page
  std::uint64_t left_out_ = 0;
};

}  // namespace dag
