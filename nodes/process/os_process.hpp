#pragma once
// The process around the actors as the operating system has it: its clock, its log and its threads. Where
// messages go, each kind of process says itself.

#include <spdlog/spdlog.h>

#include <memory>

#include "actors/ports.hpp"
#include "nodes/process/parts.hpp"

namespace dag {

class OsProcess : public ProcessPort {
 public:
  explicit OsProcess(std::shared_ptr<spdlog::logger> logger) : logger_(std::move(logger)) {}

  Instant now() override { return steady_now(); }
  void log(std::string_view line) override { logger_->error("{}", line); }
  bool has_background_threads() const override { return true; }
  void give_way() override { dag::give_way(); }

 private:
  const std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace dag
