#include "tools/dag/views/terminal.hpp"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <limits>
#include <utility>

#include "libdag/client/exit_status.hpp"

namespace dag::tool {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

template <bool drawing>
void on_interrupt(int) {
  if (drawing) {
    [[maybe_unused]] const ssize_t written =
        write(STDOUT_FILENO, drawing_ended.data(), drawing_ended.size()) + write(STDOUT_FILENO, "\n", 1);
  }
  _exit(exit_interrupted);
}

}  // namespace

static bool is_terminal(int file) {
  const char* terminal = std::getenv("TERM");
  return isatty(file) == 1 && terminal != nullptr && *terminal != '\0' &&
         std::string_view(terminal) != "dumb";
}

bool draws_on_terminal() { return is_terminal(STDOUT_FILENO); }

bool bars_on_stderr() { return is_terminal(STDERR_FILENO) && !is_set("NO_COLOR"); }

Screen screen_now() {
  Screen screen;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    screen.columns = size.ws_col;
    screen.rows = size.ws_row;
  }
  screen.bars = screen.colour = !is_set("NO_COLOR");
  return screen;
}

std::size_t columns_of_stdout() {
  return isatty(STDOUT_FILENO) == 1 ? screen_now().columns : std::numeric_limits<std::size_t>::max();
}

std::string redrawn(const std::vector<std::string>& lines, std::size_t drawn) {
  // No cursor, and no wrapping: a letter may be wider than we think, and then the next drawing would miss its
  // place.
  std::string text = "\x1b[?25l\x1b[?7l\r";
  if (drawn > 0) text += "\x1b[" + std::to_string(drawn) + "A";
  for (const std::string& line : lines) text += "\x1b[2K" + line + "\n";
  return text + "\x1b[J" + std::string(drawing_ended);
}

void end_when_interrupted(bool drawing) {
  struct sigaction action {};
  action.sa_handler = drawing ? on_interrupt<true> : on_interrupt<false>;
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
}

void Drawing::show(const std::vector<std::string>& lines, const Screen& screen) {
  // A narrower terminal has wrapped the earlier lines in an unknown way.
  if (screen.columns != std::exchange(columns_, screen.columns)) drawn_ = 0;
  std::cout << redrawn(lines, drawn_) << std::flush;
  drawn_ = lines.size();
}

}  // namespace dag::tool
