#pragma once
// A terminal that is drawn on again and again: how large it is, how a drawing takes the place of the one
// before, and that it is left as it was found.

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

/// Of stdout: it is a terminal, and understands what redrawn() says.
bool draws_on_terminal();
Screen screen_now();
/// stderr is a terminal that understands it, and NO_COLOR is not set: a line there may be written over and
/// over.
bool bars_on_stderr();

/// Of stdout, if it is a terminal; else as many as you like.
std::size_t columns_of_stdout();

/// The lines as a terminal takes them, in place of the `drawn` ones above its cursor.
std::string redrawn(const std::vector<std::string>& lines, std::size_t drawn);
/// What its terminal needs if that was written by half.
inline constexpr std::string_view drawing_ended = "\x1b[?7h\x1b[?25h";

/// SIGINT and SIGTERM end this process at once: a cluster that does not answer keeps us waiting in its
/// questions.
void end_when_interrupted(bool drawing);

/// What is on the screen of stdout.
class Drawing {
 public:
  void show(const std::vector<std::string>& lines, const Screen& screen);
  /// Something else was written below it: the next one begins there.
  void leave() { drawn_ = 0; }

 private:
  std::size_t drawn_ = 0, columns_ = 0;
};

}  // namespace dag::tool
