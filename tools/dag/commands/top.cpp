// `dag top`: the load of a cluster's nodes and the progress of its jobs, updated until it is interrupted.

#include <chrono>
#include <iostream>
#include <limits>
#include <thread>

#include "libdag/client/exit_status.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/durations.hpp"
#include "tools/dag/views/print.hpp"
#include "tools/dag/views/top_view.hpp"

namespace dag::tool {
namespace {

struct HowTop {
  bool once = false;
  double every = 1;      ///< seconds
  double patience = 30;  ///< likewise
};

/// For this many running jobs the names of tasks are asked for, each time.
constexpr std::size_t stages_of = 10;

/// Output that may be on no screen has no limits.
Screen no_screen() {
  Screen screen;
  screen.columns = std::numeric_limits<std::size_t>::max();
  screen.rows = std::numeric_limits<std::size_t>::max();
  return screen;
}

class Top {
 public:
  Top(const Options& options, const HowTop& how)
      : options_(options),
        how_(how),
        drawing_on_(!options.json && !how.once && draws_on_terminal()),
        nodes_(address_of(options)) {
    end_when_interrupted(drawing_on_);
  }

  int run() {
    for (;; std::this_thread::sleep_for(std::chrono::duration<double>(how_.every))) {
      if (look() && how_.once) return exit_ok;
      if (!std::cout) return exit_work_failed;  // Nobody sees it any more.
    }
  }

 private:
  /// False: no node answers, which is borne for a while.
  bool look() {
    const Instant now = steady_now();
    try {
      const Seen seen = nodes_.look(stages_of);
      lost_at_.reset();
      paces_.on_seen(seen, now);
      show(seen);
      return true;
    } catch (const Failure& failure) {
      if (!lost_at_) {
        lost_at_ = now;
        drawing_.leave();
        std::cerr << "dag: no node answers: " << failure.what() << std::endl;
      }
      if (std::chrono::duration<double>(now - *lost_at_).count() < how_.patience && !how_.once) return false;
      throw Failure({ErrorCode::cluster_lost, "no node of the cluster answers any more",
                     "`dag top --address HOST:PORT` asks another one", failure.error().what});
    }
  }

  void show(const Seen& seen) {
    if (options_.json) {
      std::cout << json_line(top_json(seen, paces_)) << std::flush;
    } else if (drawing_on_) {
      const Screen screen = screen_now();
      drawing_.show(top_lines(seen, paces_, screen), screen);
    } else {
      for (const std::string& line : top_lines(seen, paces_, no_screen())) std::cout << line << '\n';
      std::cout << std::flush;
    }
  }

  const Options& options_;
  const HowTop& how_;
  const bool drawing_on_;
  detail::AllNodes nodes_;
  Paces paces_;
  Drawing drawing_;
  std::optional<Instant> lost_at_;
};

}  // namespace

void add_top(CLI::App& app, Chosen& chosen) {
  auto* command =
      app.add_subcommand("top", "show the load of nodes and the progress of jobs, updated continuously");
  const auto options = add_options(*command);
  const auto how = std::make_shared<HowTop>();
  command->add_flag("--once", how->once, "print once, then exit");
  takes_duration(command->add_option("--every", how->every, "the update interval (1s)"),
                 looks_every_min_seconds, looks_every_max_seconds);
  add_patience(*command, how->patience);
  command->footer(
      "BUSY: lanes that run a task, of all lanes of the processes on the node; jobs share its cores.\n"
      "READY: tasks queued for these lanes. LEADS: jobs whose record the node leads. FREE: memory.\n"
      "On a terminal each update replaces the one before. Elsewhere, updates follow each other; with --json\n"
      "each is one line.");
  command->callback([=, &chosen] { chosen = [=] { return Top(*options, *how).run(); }; });
}

}  // namespace dag::tool
