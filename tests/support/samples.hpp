#pragma once
// An example of each message. Golden frames, mutations and the weighing test all begin with these, so a new
// message is tested once it has a sample. A field that no sample sets is set here by its type, so a new field
// is tested without a line of its own.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libdag/wire/envelope.hpp"
#include "tests/support/every_field.hpp"

namespace dag::wire::samples {

struct Sample {
  /// Also the name of its golden file.
  std::string name;
  Operation operation;
};

std::vector<Sample> all();
/// The fields of messages that samples set: all of them, or `left()` says which are missing.
test::SaidFields said();
/// A numbered frame; every field of the header says something else.
Envelope envelope_of(std::vector<Operation> operations);
/// Code of no process in particular, so that golden frames are the same everywhere: two modules of our own
/// making.
inline const CodeMap& codes() {
  static const CodeMap map({{0x10'0000, 0x10'0000}, {0x40'0000, 0x8'0000}});
  return map;
}

// Parts of samples.
Life life(std::uint32_t process);
std::vector<Claim> claims();
Blob blob(std::string_view text);
AttemptId attempt(std::uint32_t number);
OutputName output(std::uint32_t index);
TaskId spawned_task(std::uint32_t index);
/// A few tasks: one of each thing that can be said of edges, arguments, job actors and families.
std::shared_ptr<const detail::Fragment> graph();
Error error();
OutcomeRecord full_record();
Attempt lent_attempt();
Launch launch();
JobInfo job_info();

}  // namespace dag::wire::samples
