#pragma once
// Session: where a job runs. Either in this process, or in the cluster that the command line, the environment
// or the user's address file names.
// Job: a submitted graph. It is waited for, asked for outputs, cancelled.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dag/graph.hpp"

namespace dag {

namespace detail {
class Client;
struct JobState;
}  // namespace detail

/// A line or progress report of a kernel (Context::log, Context::progress), or an event of an attempt: it
/// failed and is retried, it crashed its process, or it ran longer than its timeout.
struct JobEvent {
  enum class Kind : std::uint8_t { log, progress, retry, crash, timeout } kind = Kind::log;
  std::string task;    ///< name of the task
  std::string device;  ///< where its kernel runs; empty where none does
  std::string text;
  double fraction = 0;
  std::string number = {};    ///< of the task, as all commands print it: 2, or s1/3 for a spawned one
  std::uint32_t attempt = 0;  ///< as Context::attempt says
};

/// A submitted job. Copies name the same one. Must not outlive its Session.
class Job {
 public:
  explicit Job(std::shared_ptr<detail::JobState> state) : state_(std::move(state)) {}

  /// Waits until the task has ended and its result is settled, then gives it. Throws Failure when it did not
  /// finish: task_failed, task_cancelled or task_skipped, with the chain of causes. A result once given never
  /// changes.
  template <class T>
  T get(const Output<T>& output) const {
    if constexpr (std::is_void_v<T>) {
      result(output.builder(), output.index());
    } else {
      return detail::from_blob<T>(result(output.builder(), output.index()));
    }
  }
  /// As `get`, but waits at most `limit`, then throws Failure with `timed_out`. The job runs on, and the
  /// output may be asked for again.
  template <class T>
  T get(const Output<T>& output, std::chrono::nanoseconds limit) const {
    if constexpr (std::is_void_v<T>) {
      result(output.builder(), output.index(), limit);
    } else {
      return detail::from_blob<T>(result(output.builder(), output.index(), limit));
    }
  }
  /// The value if it has arrived, without waiting; empty if it has not. (For a task without a value: true if
  /// it has finished.) The first call asks for the value, so a later call finds it. Throws like `get` when
  /// the task did not finish.
  template <class T>
  auto try_get(const Output<T>& output) const {
    std::optional<Blob> blob = result_now(output.builder(), output.index());
    if constexpr (std::is_void_v<T>) {
      return blob.has_value();
    } else {
      return blob ? std::optional<T>(detail::from_blob<T>(*std::move(blob))) : std::nullopt;
    }
  }
  /// As `get`, by the task's name in the job: there are no handles for a job that was submitted elsewhere
  /// (Session::attach). Throws Failure with usage unless exactly one task has the name. `T` is the type of
  /// the output, which is checked only by decoding its bytes.
  template <class T>
  T get(std::string_view task) const {
    if constexpr (std::is_void_v<T>) {
      result(number_of(task));
    } else {
      return detail::from_blob<T>(result(number_of(task)));
    }
  }
  /// Waits until the task has ended and says how.
  template <class T>
  Outcome outcome(const Output<T>& output) const {
    return ending(output.builder(), output.index());
  }

  /// Waits until every task, spawned tasks included, has ended and is settled. True: no task was cancelled,
  /// and none failed but tasks that have successors all of which accept any outcome (dag::maybe, dag::quorum,
  /// after_any_outcome). With a limit: empty when the limit passed first.
  bool wait() const;
  std::optional<bool> wait(std::chrono::nanoseconds limit) const;
  /// Cancels the job: tasks that have not started are cancelled, running kernels see Context::cancelled().
  void cancel() const;
  /// As `job7`.
  std::string id() const;
  /// Tasks by outcome so far, spawned tasks included. While the job runs, the counts are at most some tenths
  /// of a second old; in a cluster the node that leads the job is asked. Empty: nothing has been counted
  /// yet.
  std::vector<std::pair<Outcome, std::uint64_t>> counts() const;

 private:
  friend class Session;
  std::uint32_t number_of(std::string_view task) const;
  Blob result(std::uint32_t task) const;
  Blob result(const detail::Builder& builder, std::uint32_t task,
              std::chrono::nanoseconds limit = std::chrono::nanoseconds::max()) const;
  std::optional<Blob> result_now(const detail::Builder& builder, std::uint32_t task) const;
  Outcome ending(const detail::Builder& builder, std::uint32_t task) const;

  std::shared_ptr<detail::JobState> state_;
};

namespace detail {

/// Yields tasks of a job in the order in which they end.
class InOrderOfEnds {
 public:
  InOrderOfEnds(std::shared_ptr<JobState> state, const std::vector<std::uint32_t>& tasks);
  /// Waits for the next task and returns its place in `tasks`; empty after the last one. Throws Failure when
  /// its end can never be known.
  std::optional<std::size_t> next();

 private:
  std::shared_ptr<JobState> state_;
  std::vector<std::pair<std::uint32_t, std::size_t>> places_;  // Each task and its place, sorted.
  std::vector<std::size_t> ended_;                             // Places that were not returned yet.
  std::size_t left_, heard_ = 0;
};

}  // namespace detail

/// Options of a Session in code, besides the user's flags.
struct SessionOptions {
  /// Kernels run in worker processes in every form, as with `--dag-isolate`: a crash takes only its worker
  /// process with it. (In a shared cluster they always run so.)
  bool isolate = false;
};

/// The client. Its constructor returns only in the process that submits. In processes that run the job's
/// kernels it serves until the end and then exits. Code before it runs in every process.
class Session {
 public:
  /// Takes libdag's own flags out of argv: `--address HOST[:PORT]`, `--dag-check`, `--dag-isolate`,
  /// `--dag-lanes N`, `--dag-local`, `--dag-log LEVEL`, `--dag-no-rings`, `--dag-spawn-bytes N`,
  /// `--dag-spawn-tasks N` (how far kernels spawn ahead of the job's record before they wait). Throws
  /// Failure(usage) on a bad flag, and others when no node answers or none can be started. From here on a
  /// Failure that nobody catches ends the program with its message and an exit status of its own.
  ///
  /// Jobs run in the cluster that `--address`, else DAG_ADDRESS, else the address file of this user names
  /// (the cluster that `dag up` started). If the address file named it, a line on stderr says once which
  /// cluster it is. Jobs run in this process when no cluster is named, or when a flag asks for that:
  /// `--dag-local`, `--dag-check`, `--dag-isolate`, `--dag-lanes`, `--dag-spawn-bytes`, `--dag-spawn-tasks`.
  Session(int& argc, char** argv, SessionOptions options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Checks the graph (cycles, names, effects, needs, deadlines) and starts it. Throws Failure when it cannot
  /// run; nothing has started then. The graph and its handles may be destroyed afterwards. The graph may be
  /// submitted again, as it is or with more tasks; an unchanged graph is neither made nor checked anew.
  Job submit(const Graph& graph);

  /// A job of the cluster, by its id ("job7" or "7"), whichever client submitted it. Gives its outputs by
  /// name, its end and its counts, and can cancel it. Outputs that tasks of the job read are kept for a while
  /// after these have ended, or as long as the job if they say `.keep()`. A job of `dag submit` is kept for
  /// an hour after its end, other jobs until their client releases them. Throws Failure: job_unknown, or
  /// usage where there is no cluster.
  Job attach(std::string_view job);

  /// Yields the outputs in the order in which they end, including those that did not finish.
  /// `for (auto& output : session.as_completed(outputs)) ...` waits for the next one at every step.
  template <class T>
  class Completed;
  template <class T>
  Completed<T> as_completed(std::vector<Output<T>> outputs) {
    return Completed<T>(*this, std::move(outputs));
  }

  /// Sets a handler for the events of jobs, called on a thread of the library's, one event at a time. Without
  /// a handler, lines of Context::log are printed to stderr after the task's name. An empty function removes
  /// the handler; it does not drop events.
  void on_event(std::function<void(const JobEvent&)> handler);

 private:
  /// The order of ends in the newest submission of the tasks' graph.
  detail::InOrderOfEnds in_order_of_ends(const detail::Builder& builder,
                                         const std::vector<std::uint32_t>& tasks);

  std::unique_ptr<detail::Client> client_;
  std::vector<std::weak_ptr<detail::JobState>> jobs_;
  /// The sealed graph that was found sound last: a graph that is submitted repeatedly is checked once.
  std::weak_ptr<const detail::Fragment> sound_;
};

template <class T>
class Session::Completed {
 public:
  Completed(Session& session, std::vector<Output<T>> outputs)
      : session_(session), outputs_(std::move(outputs)) {}
  struct End {};
  class Iterator {
   public:
    explicit Iterator(Completed& of) : of_(&of) { ++*this; }
    const Output<T>& operator*() const { return *current_; }
    Iterator& operator++() {
      current_ = of_->next();
      return *this;
    }
    bool operator!=(End) const { return current_.has_value(); }

   private:
    Completed* of_;
    std::optional<Output<T>> current_;
  };
  Iterator begin() { return Iterator(*this); }
  End end() { return {}; }

 private:
  std::optional<Output<T>> next() {
    if (outputs_.empty()) return std::nullopt;
    if (!ends_) {
      std::vector<std::uint32_t> tasks;
      for (const auto& output : outputs_) tasks.push_back(output.index());
      ends_ = session_.in_order_of_ends(outputs_.front().builder(), tasks);
    }
    const auto which = ends_->next();
    return which ? std::optional(outputs_[*which]) : std::nullopt;
  }

  Session& session_;
  std::vector<Output<T>> outputs_;
  std::optional<detail::InOrderOfEnds> ends_;
};

}  // namespace dag
