#include "tools/dag/views/work_line.hpp"

#include <unistd.h>

#include <iostream>

#include "tools/dag/views/terminal.hpp"

namespace dag::tool {
namespace {

/// Shorter work needs no line.
constexpr auto shown_after = std::chrono::milliseconds(500);
constexpr auto shown_every = std::chrono::milliseconds(200);

}  // namespace

std::string work_text(std::string_view doing, double part) {
  return "dag: " + std::string(doing) + ": " + std::to_string(static_cast<int>(part * 100)) + " %";
}

WorkLine::WorkLine(bool writes_to_stdout)
    : shows_(bars_on_stderr() && !(writes_to_stdout && isatty(STDOUT_FILENO) != 0)) {}

std::function<void(std::string_view, double)> WorkLine::on_progress() {
  if (!shows_) return {};
  return [this](std::string_view doing, double part) { show(doing, part); };
}

void WorkLine::show(std::string_view doing, double part) {
  const auto now = std::chrono::steady_clock::now();
  // The beginning of something else is worth a line at once: it may take a while.
  if (now - began_ < shown_after || (part > 0 && now - shown_at_ < shown_every)) return;
  shown_at_ = now;
  std::cerr << '\r' << work_text(doing, part) << "\x1b[K" << std::flush;
  is_shown_ = true;
}

void WorkLine::clear() {
  if (is_shown_) std::cerr << "\r\x1b[K" << std::flush;
  is_shown_ = false;
}

}  // namespace dag::tool
