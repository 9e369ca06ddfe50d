#pragma once
// The runtime as a running kernel sees it: take `dag::Context&` as the kernel's first parameter.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "dag/graph.hpp"

namespace dag {

namespace detail {
/// The lane's side of a Context; outlives the kernel's run.
class KernelHost {
 public:
  virtual void log(std::string_view line) = 0;
  virtual void progress(double fraction, std::string_view note) = 0;
  virtual std::string_view device() const = 0;
  virtual std::string task_key() const = 0;
  virtual std::uint64_t fencing_token() const = 0;
  virtual std::string stage(std::string_view path) = 0;
  virtual void publish(const std::string& path, const Blob& bytes) = 0;

 protected:
  ~KernelHost() = default;
};
/// The lane's side of a Context of a task that saves its state.
class KernelCheckpoints {
 public:
  virtual bool due() const = 0;
  /// Calls `encode` and saves the bytes.
  virtual void take(const std::function<Blob()>& encode) = 0;
  /// Null when there is no state to start from.
  virtual const Blob& saved() const = 0;

 protected:
  ~KernelCheckpoints() = default;
};
}  // namespace detail

/// Valid while the kernel runs, and only on its thread.
class Context {
 public:
  Context(detail::KernelHost& host, std::uint32_t attempt, const std::atomic<bool>* cancelled,
          detail::KernelCheckpoints* checkpoints = nullptr)
      : host_(host), attempt_(attempt), cancelled_(cancelled), checkpoints_(checkpoints) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Adds a task to the job, as Graph::task does. It starts when this kernel has returned, and vanishes when
  /// this attempt is not the one that counts. A kernel whose result is `dag::Output<T>` of something it
  /// spawned *becomes* it: its output is that task's. Throws Failure(task_cancelled) when cancelled() is
  /// true, and Failure(usage) when this kernel has spawned as many tasks as a job may have.
  template <class F, class... Args>
  auto spawn(std::string_view name, F kernel, Args&&... args) {
    return detail::add_task(builder(), name, kernel, std::forward<Args>(args)...);
  }

  /// Adds a call of a job actor whose handle this task was given: `c.call<&Stage::forward>(stage, x)`. The
  /// call runs after all calls that any task added before it.
  template <auto method, class T, class... Args>
  auto call(const Actor<T>& actor, Args&&... args) {
    return detail::add_call<T, method>(builder(), actor.index(), std::forward<Args>(args)...);
  }

  /// Adds a call that writes the actor's state, as Actor::save.
  template <class T>
  Output<std::vector<std::byte>> save(const Actor<T>& actor) {
    return detail::add_save<T>(builder(), actor.index());
  }
  /// A place where the actor is saved when a save is due, as Actor::save_when_due.
  template <class T>
  void save_when_due(const Actor<T>& actor, std::chrono::nanoseconds every = {}) {
    detail::add_save<T>(builder(), actor.index(), every);
  }

  /// True: the task or its job was cancelled, or its timeout has passed. Return soon, the result will not
  /// count.
  bool cancelled() const { return cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed); }
  /// Reports progress to those who watch the job: `fraction` from 0 to 1, and a few words.
  void progress(double fraction, std::string_view note = {}) { host_.progress(fraction, note); }
  /// A line for the job's log.
  void log(std::string_view line) { host_.log(line); }
  /// The process and lane that run the kernel, as `n1/cpu0`.
  std::string_view device() const { return host_.device(); }
  /// Number of this attempt, counted from 1, as logs and all commands number it. Earlier attempts failed, ran
  /// longer than their timeout, or crashed their process. An attempt that was lost or stopped for another
  /// reason is no try and is not counted.
  std::uint32_t attempt() const { return attempt_; }

  /// Names the task among all tasks of all jobs of the cluster, as `job7/41`: the same in each of its
  /// attempts. A service that an `idempotent` task changes recognises a repeated request by this key.
  std::string task_key() const { return host_.task_key(); }
  /// Grows with every later attempt of the task. A service that refuses tokens smaller than the greatest it
  /// has seen for this task_key() is safe from attempts that were given up, however late their requests come.
  std::uint64_t fencing_token() const { return host_.fencing_token(); }

  /// Returns the place to write a file that belongs at `path` (as the worker process sees it: give an
  /// absolute path, or one that all nodes share). The place is this attempt's alone. When this attempt
  /// counts, the file is at `path` before anybody sees the task's end, whole, and once. Until then its bytes
  /// are an output of the task, and pass through memory. Only for tasks with `.effects(dag::staged)`. Throws
  /// Failure(usage) in other tasks, for an empty path, and for a path that is staged already.
  std::string stage(std::string_view path) { return host_.stage(path); }

  /// Saves `state`, of any type that could be an argument, when a save is due; returns true when it saved.
  /// Call it wherever the kernel could go on from, however often: a call that saves nothing reads the clock
  /// once. How often saves are due follows from the measured cost of earlier ones. The kernel waits while the
  /// state is encoded. Copies, one of them on another node, are made in the background; the two newest states
  /// are kept until the task's end is settled. Does nothing in a task without `.checkpoint()`.
  template <class T>
  bool checkpoint(const T& state) {
    if (!checkpoint_due()) return false;
    checkpoints_->take([&] { return detail::to_blob(state); });
    return true;
  }
  /// True: checkpoint() would save now. For states that have to be put together first.
  bool checkpoint_due() const { return checkpoints_ != nullptr && checkpoints_->due(); }
  /// The newest state that an earlier attempt of this task saved from the very inputs of this attempt; empty
  /// in a first attempt, or when no copy is left. T must be the type that checkpoint() was given.
  template <class T>
  std::optional<T> restore() const {
    if (checkpoints_ == nullptr || !checkpoints_->saved()) return std::nullopt;
    return detail::from_blob<T>(checkpoints_->saved());
  }

  /// For the library: puts a file in its place.
  void publish(const std::string& path, const Blob& bytes) { host_.publish(path, bytes); }
  /// For the library: the spawned tasks; null when there are none.
  const detail::Builder* spawned() const { return builder_.get(); }

 private:
  detail::Builder& builder();

  detail::KernelHost& host_;
  std::uint32_t attempt_;
  const std::atomic<bool>* cancelled_;
  detail::KernelCheckpoints* checkpoints_;
  std::unique_ptr<detail::Builder> builder_;
};

}  // namespace dag
