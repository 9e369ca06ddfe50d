#pragma once
// A terminal that is drawn on again and again: its size, replacing a drawing by the next one, and leaving the
// terminal as it was found.

#include <string>
#include <string_view>
#include <vector>

namespace dag::tool {

struct Screen {
  static constexpr std::size_t columns_min = 20;
  std::size_t columns = 80;
  std::size_t rows = 24;
  bool colour = false, bars = true;  ///< none with NO_COLOR, as where there is no terminal
};

/// True: stdout is a terminal, and understands the codes of redrawn().
bool draws_on_terminal();
Screen screen_now();
/// True: stderr is a terminal that understands them, and NO_COLOR is not set: a line there may be written
/// over and over.
bool bars_on_stderr();

/// Columns of stdout, if it is a terminal; else no limit.
std::size_t columns_of_stdout();

/// The lines as a terminal takes them, in place of the `drawn` ones above its cursor.
std::string redrawn(const std::vector<std::string>& lines, std::size_t drawn);
/// Resets a terminal after a drawing that was cut off.
inline constexpr std::string_view drawing_ended = "\x1b[?7h\x1b[?25h";

/// SIGINT and SIGTERM end this process at once: a cluster that does not answer would keep us
/// waiting.
void end_when_interrupted(bool drawing);

/// The present drawing on stdout.
class Drawing {
 public:
  void show(const std::vector<std::string>& lines, const Screen& screen);
  /// Other text was written below it: the next drawing begins there.
  void leave() { drawn_ = 0; }

 private:
  std::size_t drawn_ = 0, columns_ = 0;
};

}  // namespace dag::tool
