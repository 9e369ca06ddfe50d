#pragma once
// Where a job runs: in this process, or in the cluster that the command line, the environment or the user's
// address file names.
// Submitting a graph, waiting for what it leaves, cancelling it.

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

/// What a kernel said by Context::progress or Context::log, or what happened to an attempt: it failed and the
/// task is tried again, it took its process down, or it ran longer than its timeout.
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
  /// The same, but waits no longer than `limit`: then throws Failure with `timed_out`. The job runs on, and
  /// the output may be asked for again.
  template <class T>
  T get(const Output<T>& output, std::chrono::nanoseconds limit) const {
    if constexpr (std::is_void_v<T>) {
      result(output.builder(), output.index(), limit);
    } else {
      return detail::from_blob<T>(result(output.builder(), output.index(), limit));
    }
  }
  /// The value if it has arrived, without waiting; empty if it has not. (Of a task without one: whether it
  /// has finished.) The first call asks for it, so a later one finds it. Throws like `get` when the task did
  /// not finish.
  template <class T>
  auto try_get(const Output<T>& output) const {
    std::optional<Blob> blob = result_now(output.builder(), output.index());
    if constexpr (std::is_void_v<T>) {
      return blob.has_value();
    } else {
      return blob ? std::optional<T>(detail::from_blob<T>(*std::move(blob))) : std::nullopt;
    }
  }
  /// Likewise by the name that the task has in the job: of a job that was submitted elsewhere
  /// (Session::attach) there are no handles. Throws Failure with usage when none or several have it. `T` is
  /// the type of the output; that it is, is not checked beyond its bytes.
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

  /// Waits until every task, spawned ones included, has ended and is settled. True when none was cancelled
  /// and none failed; a failure counts only if a successor does not wait for any outcome (dag::maybe,
  /// dag::quorum, after_any_outcome), or there is none. With a limit: empty when it has passed first.
  bool wait() const;
  std::optional<bool> wait(std::chrono::nanoseconds limit) const;
  /// Asks for the end: tasks that have not started are cancelled, running kernels see Context::cancelled().
  void cancel() const;
  /// As `job7`.
  std::string id() const;
  /// Tasks by how they ended so far, spawned ones included. While the job runs, at most some tenths of a
  /// second old: where a cluster runs the job, the node that leads it is asked. Empty: none has been counted
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

/// Tasks of a job, one after the other as they end.
class InOrderOfEnds {
 public:
  InOrderOfEnds(std::shared_ptr<JobState> state, const std::vector<std::uint32_t>& tasks);
  /// Waits for the next one: its place in `tasks`. Empty: that was all. Throws Failure when it will never be
  /// known.
  std::optional<std::size_t> next();

 private:
  std::shared_ptr<JobState> state_;
  std::vector<std::pair<std::uint32_t, std::size_t>> places_;  // Of each task, in their order.
  std::vector<std::size_t> ended_;                             // Places that were not given yet.
  std::size_t left_, heard_ = 0;
};

}  // namespace detail

/// What a job may ask of its Session, besides what its user says in flags.
struct SessionOptions {
  /// Kernels run in worker processes in every form, as with `--dag-isolate`: one that crashes takes its
  /// worker process with it and nothing else. (In a shared cluster they always do.)
  bool isolate = false;
};

/// The client. Its constructor returns only in the process that submits; in the others that run the job's
/// kernels it serves until the end and then exits. Code before it runs in every process.
class Session {
 public:
  /// Takes libdag's own flags out of argv: `--address HOST[:PORT]`, `--dag-check`, `--dag-isolate`,
  /// `--dag-lanes N`, `--dag-local`, `--dag-log LEVEL`, `--dag-no-rings`, `--dag-spawn-bytes N`,
  /// `--dag-spawn-tasks N` (how far kernels spawn ahead of the job's record before they wait). Throws
  /// Failure(usage) on a bad one, and others when no node answers or none can be started. From here on a
  /// Failure that nobody catches ends the program with its message and an exit status of its own.
  ///
  /// Jobs run in the cluster that `--address`, else DAG_ADDRESS, else the address file of this user names
  /// (the cluster that `dag up` started); unless the user said it, a line on stderr says once which was
  /// found. They run in this process when there is none, or when a flag asks for that: `--dag-local`,
  /// `--dag-check`, `--dag-isolate`, `--dag-lanes`, `--dag-spawn-bytes`, `--dag-spawn-tasks`.
  Session(int& argc, char** argv, SessionOptions options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Checks the graph (cycles, names, effects, needs, deadlines) and starts it. Throws Failure when it cannot
  /// run; nothing has started then. The graph may go away afterwards, handles then too. Or it may be
  /// submitted again, as it is or with more tasks: one that is as it was is neither made nor checked anew.
  Job submit(const Graph& graph);

  /// A job of the cluster, by its id ("job7" or "7"), whoever submitted it and wherever: its outputs by their
  /// names, its end, its counts; it may be cancelled, too. Outputs that tasks of the job read are there for a
  /// while after these have ended, or as long as the job is kept if they say `.keep()`. A job of `dag submit`
  /// is kept for an hour after its end, others until whoever submitted them lets go. Throws Failure:
  /// job_unknown, or usage where there is no cluster.
  Job attach(std::string_view job);

  /// The outputs in the order in which they end; those that did not finish are included.
  /// `for (auto& output : session.as_completed(outputs)) ...` waits for the next one at every step.
  template <class T>
  class Completed;
  template <class T>
  Completed<T> as_completed(std::vector<Output<T>> outputs) {
    return Completed<T>(*this, std::move(outputs));
  }

  /// Called for everything kernels say, on a thread of the library's, one at a time. Without a handler, lines
  /// of Context::log are printed to stderr after the task's name. An empty function drops nothing: it takes
  /// the handler away again.
  void on_event(std::function<void(const JobEvent&)> handler);

 private:
  /// Of the newest submission of the graph that they belong to.
  detail::InOrderOfEnds in_order_of_ends(const detail::Builder& builder,
                                         const std::vector<std::uint32_t>& tasks);

  std::unique_ptr<detail::Client> client_;
  std::vector<std::weak_ptr<detail::JobState>> jobs_;
  /// The sealed graph that was found sound last: a step that is submitted again and again is checked once.
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
