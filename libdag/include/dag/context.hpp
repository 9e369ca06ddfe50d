#pragma once
// What a kernel may ask of the runtime while it runs: take `dag::Context&` as its first parameter.

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
  /// Calls `encode`, and takes what it gives.
  virtual void take(const std::function<Blob()>& encode) = 0;
  /// Null when there is nothing to start from.
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

  /// Adds a call of a job actor whose handle this task was given: `c.call<&Stage::forward>(stage, x)`. Calls
  /// follow those that were added before, by whom ever.
  template <auto method, class T, class... Args>
  auto call(const Actor<T>& actor, Args&&... args) {
    return detail::add_call<T, method>(builder(), actor.index(), std::forward<Args>(args)...);
  }

  /// Adds a call that writes the actor's state, as Actor::save.
  template <class T>
  Output<std::vector<std::byte>> save(const Actor<T>& actor) {
    return detail::add_save<T>(builder(), actor.index());
  }
  /// A place where the actor is saved when it is time, as Actor::save_when_due.
  template <class T>
  void save_when_due(const Actor<T>& actor, std::chrono::nanoseconds every = {}) {
    detail::add_save<T>(builder(), actor.index(), every);
  }

  /// Somebody cancelled the task or its job, or its timeout has passed: return soon, the result will not
  /// count.
  bool cancelled() const { return cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed); }
  /// Tells who watches how far it is: `fraction` from 0 to 1, and a few words.
  void progress(double fraction, std::string_view note = {}) { host_.progress(fraction, note); }
  /// A line for the job's log.
  void log(std::string_view line) { host_.log(line); }
  /// Where it runs, as `n1/cpu0`: process and lane.
  std::string_view device() const { return host_.device(); }
  /// Which attempt this is, counted from 1, as logs and all commands number it: those before it failed, ran
  /// longer than their timeout, or took their process down. One that was lost or stopped for another reason
  /// is not counted: nobody is charged with it.
  std::uint32_t attempt() const { return attempt_; }

  /// Names the task among all of all jobs of the cluster, as `job7/41`: the same in each of its attempts.
  /// Whoever is changed by an `idempotent` task knows by it what he has done already.
  std::string task_key() const { return host_.task_key(); }
  /// Greater in every later attempt of the task. Whoever is changed and refuses a smaller one than he has
  /// seen for this task_key() hears nothing of attempts that were given up, however late they come.
  std::uint64_t fencing_token() const { return host_.fencing_token(); }

  /// Where to write a file that belongs at `path` (as the worker process sees it: give absolute ones, or such
  /// as all nodes share). This attempt alone has that place; when it is the one that counts, the file is at
  /// `path` before anybody sees the task's end, whole, and once. The bytes go there through memory, and are
  /// an output of the task until then. Only of tasks that say `.effects(dag::staged)`; throws Failure(usage)
  /// in others, for an empty path, and for one that is staged already.
  std::string stage(std::string_view path) { return host_.stage(path); }

  /// Saves `state`, of any type that could be an argument, if it is time: returns whether it did. Call it
  /// wherever the kernel could go on from, however often: what it costs is known from the saves before, and a
  /// call that saves nothing reads the clock once. The kernel is held up while the state is encoded; copies
  /// of it, one of them with another node, are made behind it, and the two newest are kept until the task's
  /// end is settled. Nothing is saved by a task that was not told to: `.checkpoint()`.
  template <class T>
  bool checkpoint(const T& state) {
    if (!checkpoint_due()) return false;
    checkpoints_->take([&] { return detail::to_blob(state); });
    return true;
  }
  /// Whether checkpoint() would save now: for states that have to be put together first.
  bool checkpoint_due() const { return checkpoints_ != nullptr && checkpoints_->due(); }
  /// What an earlier attempt of this task saved last, from the very inputs that this one has; nothing for a
  /// first attempt, or where no copy is left. T must be what checkpoint() was given.
  template <class T>
  std::optional<T> restore() const {
    if (checkpoints_ == nullptr || !checkpoints_->saved()) return std::nullopt;
    return detail::from_blob<T>(checkpoints_->saved());
  }

  /// For the library: puts a file where it belongs.
  void publish(const std::string& path, const Blob& bytes) { host_.publish(path, bytes); }
  /// For the library: what was spawned; null when nothing was.
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
