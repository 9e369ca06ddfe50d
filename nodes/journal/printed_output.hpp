#pragma once
// What a process of a job writes to stdout and stderr, read out of the file that it goes to, for a journal.
// Decides in which pieces, and what is left out when there is too much of it. Whoever writes never waits.

#include <cstdint>
#include <string>
#include <vector>

#include "libdag/base/owned_file.hpp"
#include "libdag/journal/record.hpp"

namespace dag {

class PrintedOutput {
 public:
  /// Of one piece: lines are put together, and one that is longer is cut.
  static constexpr std::size_t piece_bytes_max = std::size_t{16} << 10;
  /// Of one call of take(): a journal has more to do.
  static constexpr std::size_t take_bytes_max = std::size_t{256} << 10;
  /// Who is further behind passes over what is older than so much.
  static constexpr std::uint64_t behind_bytes_max = std::uint64_t{8} << 20;
  /// So much of what was read stays in the file, or up to twice as much; the disk gets the rest back.
  static constexpr std::uint64_t kept_bytes = std::uint64_t{16} << 20;

  /// A file that cannot be opened says nothing.
  explicit PrintedOutput(const std::string& file);

  /// What has come since the last call, oldest first. A line that has no end yet waits for it; `last`: for
  /// nothing more.
  std::vector<recorded::Printed> take(bool last);

 private:
  void pass_over(std::uint64_t to);
  void give_back();

  OwnedFile file_;
  std::uint64_t read_ = 0;        ///< that much was taken
  std::uint64_t given_back_ = 0;  ///< a multiple of the page
  std::uint64_t left_out_ = 0;
};

}  // namespace dag
