#pragma once
// A small model checker: runs the threads of a lock-free algorithm in every order in which their operations
// on atomics can meet, one operation at a time, and reports an order that breaks a requirement. The algorithm
// itself runs, with `model::Atomic` in the place of std::atomic; no second description of it could be wrong.
//
// How: threads are fibers of one thread. Before each operation on shared memory a fiber announces the
// operation and gives way; the search (depth first, by running the program from the start each time) chooses
// the next fiber. Two orders that differ only in neighbours that do not touch the same memory are one; sleep
// sets (Godefroid 1996) visit each of these classes once, so "every order" is meant.
//
// Memory: either sequentially consistent, or as x86 has it: stores that are not seq_cst wait in a buffer of
// their thread, whence they reach memory in their order, but at any later time. That is what finds a missing
// full barrier. Weaker orders (a relaxed store where release is needed) it cannot see; ThreadSanitizer does.

#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "libdag/base/time.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define DAG_MODEL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DAG_MODEL_ASAN 1
#endif
#endif
#ifdef DAG_MODEL_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace model {

/// A requirement of the program that does not hold.
struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline void require(bool holds, const std::string& what) {
  if (!holds) throw Violation(what);
}

/// The program under test: fresh for each order, so its threads capture the objects that they share.
struct Program {
  std::vector<std::function<void()>> threads;
  /// Called when all have ended; requires the final conditions.
  std::function<void()> at_end = [] {};
};

struct Options {
  /// As on x86; else sequentially consistent.
  bool store_buffers = false;
  /// A sleep may also end by its timeout, at any moment.
  bool timeouts = false;
  /// How often a thread that could go on is interrupted, where all orders are too many (three threads on one
  /// word). Most mistakes need one or two (Musuvathi and Qadeer 2007).
  std::size_t interruptions_max = static_cast<std::size_t>(-1);
  /// A program that has more orders is too large to be checked wholly.
  std::size_t orders_max = 3'000'000;
  /// A run that takes more operations does not end.
  std::size_t operations_max = 2'000;
};

struct Verdict {
  std::size_t orders = 0;  ///< that ran to their end
  std::optional<std::string> violation;
  /// The thread of each step in the order that broke it: "0 0 1 b0 1", b: a buffered store reached memory.
  std::string order;
};

class Fiber {
 public:
  explicit Fiber(std::function<void()> body) : body_(std::move(body)) {
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_.get();
    context_.uc_stack.ss_size = stack_bytes;
    context_.uc_link = nullptr;
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&context_, reinterpret_cast<void (*)()>(&Fiber::enter), 2, static_cast<unsigned>(self),
                static_cast<unsigned>(self >> 32));
#if defined(__SANITIZE_THREAD__)
    tsan_ = __tsan_create_fiber(0);
#endif
  }
  ~Fiber() {
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(tsan_);
#endif
  }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// From outside: runs it until it gives way. The body must never return.
  void resume() {
#if defined(__SANITIZE_THREAD__)
    tsan_outside_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(tsan_, 0);
#endif
#ifdef DAG_MODEL_ASAN
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, stack_.get(), stack_bytes);
#endif
    swapcontext(&outside_, &context_);
#ifdef DAG_MODEL_ASAN
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
  }
  /// From inside.
  void give_way() {
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(tsan_outside_, 0);
#endif
#ifdef DAG_MODEL_ASAN
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, outside_stack_, outside_bytes_);
#endif
    swapcontext(&context_, &outside_);
#ifdef DAG_MODEL_ASAN
    __sanitizer_finish_switch_fiber(fake, &outside_stack_, &outside_bytes_);
#endif
  }

 private:
  static constexpr std::size_t stack_bytes = 256 * 1024;

  static void enter(unsigned low, unsigned high) {
    auto* self = reinterpret_cast<Fiber*>(std::uintptr_t{low} | std::uintptr_t{high} << 32);
#ifdef DAG_MODEL_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &self->outside_stack_, &self->outside_bytes_);
#endif
    self->body_();
    std::abort();
  }

  std::function<void()> body_;
  std::unique_ptr<char[]> stack_ = std::make_unique_for_overwrite<char[]>(stack_bytes);
  ucontext_t context_{};
  ucontext_t outside_{};
#ifdef DAG_MODEL_ASAN
  const void* outside_stack_ = nullptr;
  std::size_t outside_bytes_ = 0;
#endif
#if defined(__SANITIZE_THREAD__)
  void* tsan_ = nullptr;
  void* tsan_outside_ = nullptr;
#endif
};

/// The memory of one atomic. It is known by its number, since each run of the program has other addresses.
struct Cell {
  explicit Cell(std::uint64_t first);
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;
  const std::uint32_t number;
  std::uint64_t value;
};

class Explorer {
 public:
  explicit Explorer(Options options) : options_(options) {}

  /// Runs the program that `make` makes in every order, until one breaks it.
  Verdict explore(const std::function<Program()>& make) {
    Explorer* const before = current;
    current = this;
    Verdict verdict;
    for (;;) {
      cells_ = 0;
      const std::optional<std::string> violation = run_once(make(), verdict);
      if (violation) {
        verdict.violation = violation;
        for (const Node& node : path_) verdict.order += (verdict.order.empty() ? "" : " ") + node.name();
        break;
      }
      if (verdict.orders > options_.orders_max) {
        verdict.violation = "more orders than can be checked";
        break;
      }
      if (!go_back()) break;
    }
    current = before;
    return verdict;
  }

  static inline Explorer* current = nullptr;
  bool store_buffers() const { return options_.store_buffers; }
  std::uint32_t new_cell() { return ++cells_; }

  // By Atomic, on fibers.

  /// About to read or write this cell. `drained`: only when its stores have reached memory.
  void step(const Cell& cell, bool writes, bool drained) {
    if (running_ == nullptr) return;  // While the program is made, or looked at after its end.
    give_way(Operation{cell.number, writes, drained, false});
  }
  std::uint64_t load(const Cell& cell) const {
    if (running_ != nullptr) {
      for (auto store = running_->buffer.rbegin(); store != running_->buffer.rend(); ++store) {
        if (store->cell == &cell) return store->value;
      }
    }
    return cell.value;
  }
  void buffer(Cell& cell, std::uint64_t value) {
    if (running_ == nullptr) {
      cell.value = value;
    } else {
      running_->buffer.push_back({&cell, value});
    }
  }
  bool sleep_on(const Cell& cell, std::uint64_t expected) {
    step(cell, true, true);
    if (cell.value != expected) return false;
    give_way(Operation{cell.number, true, true, true});
    return true;
  }
  void wake(const Cell& cell, std::uint32_t count) {
    step(cell, true, true);
    for (; count > 0; --count) {
      std::vector<Thread*> asleep;
      for (const auto& thread : threads_) {
        if (!thread->ended && thread->next.asleep && thread->next.cell == cell.number)
          asleep.push_back(thread.get());
      }
      if (asleep.empty()) return;
      asleep[choose(asleep.size())]->next = Operation{};
    }
  }

 private:
  struct Abandoned {};
  struct Operation {
    std::uint32_t cell = 0;  // 0: none
    bool writes = false;
    bool drained = false;
    bool asleep = false;
  };
  struct Store {
    Cell* cell;
    std::uint64_t value;
  };
  struct Thread {
    std::function<void()> body;
    std::unique_ptr<Fiber> fiber;
    Operation next;
    std::deque<Store> buffer;
    bool ended = true;
    std::optional<std::string> violation;
  };
  /// A thread's next operation, or its oldest buffered store on its way to memory.
  struct Move {
    std::size_t thread = 0;
    bool flush = false;
    std::uint32_t cell = 0;
    bool writes = false;
    bool is(const Move& other) const { return thread == other.thread && flush == other.flush; }
    bool depends_on(const Move& other) const {
      return thread == other.thread || (cell != 0 && cell == other.cell && (writes || other.writes));
    }
  };
  /// A point with a choice: the fiber that moves, or (of `options`) something the program does not decide.
  struct Node {
    Move chosen;
    std::vector<Move> possible;
    std::vector<Move> asleep;  // Their orders have been seen from an earlier choice.
    std::size_t options = 0;
    std::size_t option = 0;
    std::string name() const {
      if (options > 0) return "?" + std::to_string(option);
      return (chosen.flush ? "b" : "") + std::to_string(chosen.thread);
    }
  };

  void give_way(Operation next) {
    Thread& thread = *running_;
    thread.next = next;
    thread.fiber->give_way();
    if (abandoning_) throw Abandoned{};
  }

  std::size_t choose(std::size_t options) {
    if (options == 1) return 0;
    if (depth_ == path_.size()) {
      Node node;
      node.options = options;
      path_.push_back(std::move(node));
    }
    return path_[depth_++].option;
  }

  static constexpr std::size_t no_thread = static_cast<std::size_t>(-1);

  bool goes_on(std::size_t i) const {
    return i != no_thread && !threads_[i]->ended && !threads_[i]->next.asleep;
  }
  std::vector<Move> moves(std::size_t last, std::size_t interruptions) const {
    std::vector<Move> possible;
    const bool only_last = interruptions == options_.interruptions_max && goes_on(last);
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      const Thread& thread = *threads_[i];
      if (only_last && i != last) continue;
      if (!thread.buffer.empty()) possible.push_back({i, true, thread.buffer.front().cell->number, true});
      if (thread.ended || (thread.next.drained && !thread.buffer.empty())) continue;
      if (thread.next.asleep && !options_.timeouts) continue;
      possible.push_back({i, false, thread.next.cell, thread.next.writes});
    }
    return possible;
  }

  void prepare(Program program) {
    while (threads_.size() < program.threads.size()) {
      threads_.push_back(std::make_unique<Thread>());
      Thread& thread = *threads_.back();
      thread.fiber = std::make_unique<Fiber>([this, &thread] { live(thread); });
    }
    for (std::size_t i = 0; i < program.threads.size(); ++i) {
      Thread& thread = *threads_[i];
      thread.body = std::move(program.threads[i]);
      thread.buffer.clear();
      thread.violation.reset();
      thread.ended = false;
      resume(thread);  // Up to its first operation.
    }
  }
  /// A fiber's life: one body after another.
  void live(Thread& thread) {
    for (;;) {
      try {
        thread.body();
      } catch (const Abandoned&) {
      } catch (const std::exception& error) {
        thread.violation = error.what();
      }
      thread.ended = true;
      thread.fiber->give_way();
    }
  }
  void resume(Thread& thread) {
    running_ = &thread;
    thread.fiber->resume();
    running_ = nullptr;
  }
  void abandon() {
    abandoning_ = true;
    for (const auto& thread : threads_) {
      while (!thread->ended) resume(*thread);
      thread->body = nullptr;
      thread->buffer.clear();
    }
    abandoning_ = false;
  }

  std::optional<std::string> run_once(Program program, Verdict& verdict) {
    const std::function<void()> at_end = program.at_end;
    depth_ = 0;
    std::vector<Move> asleep;
    prepare(std::move(program));
    std::optional<std::string> violation;
    std::size_t operations = 0;
    std::size_t last = no_thread;
    std::size_t interruptions = 0;
    for (;;) {
      for (const auto& thread : threads_) {
        if (thread->violation) violation = thread->violation;
      }
      if (violation) break;
      const std::vector<Move> possible = moves(last, interruptions);
      if (possible.empty()) {
        const bool all_ended =
            std::all_of(threads_.begin(), threads_.end(), [](const auto& t) { return t->ended; });
        ++verdict.orders;
        try {
          require(all_ended, "somebody sleeps for ever");
          at_end();
        } catch (const std::exception& error) {
          violation = error.what();
        }
        break;
      }
      if (++operations > options_.operations_max) {
        violation = "it does not end";
        break;
      }
      if (depth_ == path_.size()) {
        const Move* fresh = not_asleep(possible, asleep);
        if (fresh == nullptr) break;  // All moves were seen.
        Node node;
        node.chosen = *fresh;
        node.possible = possible;
        node.asleep = asleep;
        path_.push_back(std::move(node));
      }
      const Node& node = path_[depth_++];
      const Move chosen = node.chosen;
      // A bounded search may not leave out an order because another, which may be out of bounds, is the same.
      if (options_.interruptions_max == Options{}.interruptions_max) asleep = node.asleep;
      std::erase_if(asleep, [&](const Move& move) { return move.depends_on(chosen); });
      Thread& thread = *threads_[chosen.thread];
      if (chosen.thread != last && goes_on(last)) ++interruptions;
      last = chosen.thread;
      if (chosen.flush) {
        thread.buffer.front().cell->value = thread.buffer.front().value;
        thread.buffer.pop_front();
      } else {
        resume(thread);
      }
    }
    abandon();
    return violation;
  }

  /// To the last choice that has another way to go. False: all were gone.
  bool go_back() {
    for (; !path_.empty(); path_.pop_back()) {
      Node& node = path_.back();
      if (node.options > 0) {
        if (++node.option < node.options) return true;
        continue;
      }
      node.asleep.push_back(node.chosen);
      if (const Move* next = not_asleep(node.possible, node.asleep)) {
        node.chosen = *next;
        return true;
      }
    }
    return false;
  }
  static const Move* not_asleep(const std::vector<Move>& possible, const std::vector<Move>& asleep) {
    for (const Move& move : possible) {
      if (std::none_of(asleep.begin(), asleep.end(), [&](const Move& other) { return move.is(other); }))
        return &move;
    }
    return nullptr;
  }

  Options options_;
  std::vector<std::unique_ptr<Thread>> threads_;
  Thread* running_ = nullptr;
  bool abandoning_ = false;
  std::vector<Node> path_;
  std::size_t depth_ = 0;
  std::uint32_t cells_ = 0;
};

inline Cell::Cell(std::uint64_t first)
    : number(Explorer::current == nullptr ? 0 : Explorer::current->new_cell()), value(first) {}

template <class T>
std::uint64_t to_word(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<std::uintptr_t>(value);
  } else {
    return static_cast<std::uint64_t>(value);
  }
}
template <class T>
T from_word(std::uint64_t word) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<T>(word);
  } else {
    return static_cast<T>(word);
  }
}

/// Takes the place of std::atomic in the algorithm.
template <class T>
class Atomic {
 public:
  Atomic(T first = {}) : cell_(to_word<T>(first)) {}

  T load(std::memory_order = std::memory_order_seq_cst) const {
    Explorer::current->step(cell_, false, false);
    return from_word<T>(Explorer::current->load(cell_));
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) {
    if (Explorer::current->store_buffers() && order != std::memory_order_seq_cst) {
      Explorer::current->buffer(cell_, to_word<T>(value));
    } else {
      Explorer::current->step(cell_, true, true);
      cell_.value = to_word<T>(value);
    }
  }
  T exchange(T value, std::memory_order = std::memory_order_seq_cst) {
    return change([value](T) { return value; });
  }
  T fetch_add(T more, std::memory_order = std::memory_order_seq_cst) {
    return change([more](T before) { return static_cast<T>(before + more); });
  }
  bool compare_exchange_strong(T& expected, T value, std::memory_order = std::memory_order_seq_cst) {
    const T before = change([&](T now) { return now == expected ? value : now; });
    if (before == expected) return true;
    expected = before;
    return false;
  }

  /// Changes the value in one step; returns the former one.
  template <class Change>
  T change(Change what) {
    Explorer::current->step(cell_, true, true);
    const T before = from_word<T>(cell_.value);
    cell_.value = to_word<T>(what(before));
    return before;
  }

  const Cell& cell() const { return cell_; }

 private:
  Cell cell_;
};

inline bool sleep_on(Atomic<std::uint32_t>& word, std::uint32_t expected, dag::Duration) {
  return Explorer::current->sleep_on(word.cell(), expected);
}
inline void wake(Atomic<std::uint32_t>& word, std::uint32_t count) {
  Explorer::current->wake(word.cell(), count);
}

}  // namespace model
