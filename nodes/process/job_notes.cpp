#include "nodes/process/job_notes.hpp"

namespace dag {

wire::JobNote note_by(const Speaker& by, wire::JobNote::Kind kind, std::string_view text, double fraction) {
  return {by.job,  kind,     fraction, std::string(by.name), std::string(by.device), std::string(text),
          by.task, by.number};
}

wire::JobNote note_of(JobId job, Troubled what) {
  const auto kind = [&] {
    switch (what.kind) {
      case Troubled::Kind::crash:
        return wire::JobNote::Kind::crash;
      case Troubled::Kind::timeout:
        return wire::JobNote::Kind::timeout;
      case Troubled::Kind::retry:
        break;
    }
    return wire::JobNote::Kind::retry;
  };
  return {job, kind(), 0, std::move(what.name), {}, std::move(what.text), what.task, what.number};
}

JobEvent event_of(wire::JobNote note) {
  const auto kind = [&] {
    switch (note.kind) {
      case wire::JobNote::Kind::progress:
        return JobEvent::Kind::progress;
      case wire::JobNote::Kind::retry:
        return JobEvent::Kind::retry;
      case wire::JobNote::Kind::crash:
        return JobEvent::Kind::crash;
      case wire::JobNote::Kind::timeout:
        return JobEvent::Kind::timeout;
      case wire::JobNote::Kind::log:
      case wire::JobNote::Kind::over:
        break;
    }
    return JobEvent::Kind::log;
  };
  return {kind(),
          std::move(note.name),
          std::move(note.device),
          std::move(note.text),
          note.fraction,
          to_string(note.task),
          note.number};
}

}  // namespace dag
