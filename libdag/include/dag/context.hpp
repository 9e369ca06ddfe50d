#pragma once
// What a kernel may ask of the runtime while it runs: take `dag::Context&` as its first parameter.

#include <atomic>
#include <memory>
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

 protected:
  ~KernelHost() = default;
};
}  // namespace detail

/// Valid while the kernel runs, and only on its thread.
class Context {
 public:
  Context(detail::KernelHost& host, std::uint32_t attempt, const std::atomic<bool>* cancelled)
      : host_(host), attempt_(attempt), cancelled_(cancelled) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Adds a task to the job, as Graph::task does. It starts when this kernel has returned, and vanishes when
  /// this attempt is not the one that counts. A kernel whose result is `dag::Output<T>` of something it
  /// spawned *becomes* it: its output is that task's.
  template <class F, class... Args>
  auto spawn(std::string_view name, F kernel, Args&&... args) {
    return detail::add_task(builder(), name, kernel, std::forward<Args>(args)...);
  }

  /// Adds a call of a job actor whose handle this task was given: `c.call<&Stage::forward>(stage, x)`. Calls
  /// follow those that were added before, by whom ever.
  template <auto method, class T, class... Args>
  auto call(const Actor<T>& actor, Args&&... args) {
    return detail::add_call<method>(builder(), actor.index(), std::forward<Args>(args)...);
  }

  /// Adds a call that writes the actor's state, as Actor::save.
  template <class T>
  Output<std::vector<std::byte>> save(const Actor<T>& actor) {
    return detail::add_save<T>(builder(), actor.index());
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
  /// Which try this is, counted from 1; tries that were lost with their process count too.
  std::uint32_t attempt() const { return attempt_; }

  /// For the library: what was spawned; null when nothing was.
  const detail::Builder* spawned() const { return builder_.get(); }

 private:
  detail::Builder& builder() {
    if (!builder_) builder_ = std::make_unique<detail::Builder>();
    return *builder_;
  }

  detail::KernelHost& host_;
  std::uint32_t attempt_;
  const std::atomic<bool>* cancelled_;
  std::unique_ptr<detail::Builder> builder_;
};

}  // namespace dag
