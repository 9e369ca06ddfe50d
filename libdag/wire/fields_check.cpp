// A field that is added to a message and not sent is lost silently. So the number of fields of every message
// is written here: a new field breaks this file, until it is added to the schema, to the codec and to the
// golden samples, and the number is corrected.

#include "libdag/cell/snapshot.hpp"
#include "libdag/wire/operation.hpp"

namespace dag::wire {

/// Converts to the type of any field. Never called, so not defined; clang would ask for a definition if it
/// were in the unnamed namespace.
struct Anything {
  template <class Field>
  operator Field() const;
};

namespace {

template <class Aggregate, class... Fields>
consteval std::size_t fields() {
  if constexpr (requires { Aggregate{Fields{}..., Anything{}}; }) {
    return fields<Aggregate, Fields..., Anything>();
  } else {
    return sizeof...(Fields);
  }
}

static_assert(fields<link::FrameHeader>() == 11);
static_assert(fields<link::Hello>() == 6);
static_assert(fields<link::Welcome>() == 6);
static_assert(fields<link::HelloRefused>() == 4);

static_assert(fields<Claim>() == 5);
static_assert(fields<LoadSummary>() == 8);
static_assert(fields<DeviceLoad>() == 7);
static_assert(fields<membership::Ping>() == 2);
static_assert(fields<membership::Ack>() == 2);
static_assert(fields<membership::PingRequest>() == 3);
static_assert(fields<membership::Nack>() == 2);
static_assert(fields<membership::Gossip>() == 1);
static_assert(fields<membership::Join>() == 2);
static_assert(fields<membership::Welcome>() == 2);
static_assert(fields<membership::Obituary>() == 3);
static_assert(std::variant_size_v<MembershipMessage> == 8);

static_assert(fields<Piece>() == 5);
static_assert(fields<JobNote>() == 8);
static_assert(std::variant_size_v<Operation> == 11);

static_assert(fields<ring::Host>() == 2);
static_assert(fields<ring::Offer>() == 7);
static_assert(fields<ring::Ready>() == 0);
static_assert(fields<ring::Closed>() == 1);
static_assert(fields<ring::SharedBytes>() == 5);
static_assert(fields<ring::HandOver>() == 2);
static_assert(fields<ring::HandBack>() == 2);
static_assert(fields<ring::StreamOver>() == 4);
static_assert(std::variant_size_v<RingMessage> == 6);

static_assert(fields<consensus::Addressed>() == 2);
static_assert(fields<consensus::Seat>() == 2);
static_assert(fields<consensus::Configuration>() == 2);
static_assert(fields<consensus::Entry>() == 4);
static_assert(fields<consensus::AskVote>() == 6);
static_assert(fields<consensus::VoteAnswer>() == 4);
static_assert(fields<consensus::Append>() == 8);
static_assert(fields<consensus::AppendAnswer>() == 6);
static_assert(fields<consensus::SnapshotPiece>() == 9);
static_assert(fields<consensus::SnapshotAnswer>() == 5);
static_assert(fields<consensus::TakeOver>() == 2);
static_assert(fields<consensus::Outdated>() == 2);
static_assert(fields<consensus::Over>() == 2);
static_assert(std::variant_size_v<consensus::Message> == 9);

static_assert(fields<Error>() == 4);
static_assert(fields<OutputName>() == 2);
static_assert(fields<OutcomeRecord>() == 18);
static_assert(fields<Checkpointing>() == 3);
static_assert(fields<Attempt>() == 24);
static_assert(fields<detail::Code>() == 2);
static_assert(fields<detail::TaskKind>() == 8);
static_assert(fields<detail::Condition>() == 2);
static_assert(fields<detail::Argument>() == 4);
static_assert(fields<detail::ActorDraft>() == 5);
static_assert(fields<detail::Fragment>() == 18);
static_assert(fields<detail::FamilyDraft>() == 7);
static_assert(fields<detail::FamilyDraft::Input>() == 2);
static_assert(fields<detail::GroupDraft>() == 3);
static_assert(fields<Intensity>() == 2);
static_assert(fields<Range>() == 2);
static_assert(fields<Offset>() == 2);
static_assert(fields<Policy>() == 13);
static_assert(fields<Needs>() == 3);
static_assert(fields<Retry>() == 2);
static_assert(fields<JobPlan>() == 9);

static_assert(fields<message::JobCreate>() == 1);
static_assert(fields<message::JobState>() == 13);
static_assert(fields<message::ShardHome>() == 2);
static_assert(fields<message::Crashed>() == 3);
static_assert(fields<message::Assign>() == 10);
static_assert(fields<message::Settled>() == 8);
static_assert(fields<message::TaskBits>() == 2);
static_assert(fields<message::FirstTry>() == 2);
static_assert(fields<message::Keep>() == 4);
static_assert(fields<message::Cancel>() == 4);
static_assert(fields<message::RenewLease>() == 2);
static_assert(fields<message::LeaseRenewed>() == 2);
static_assert(fields<message::AskPlan>() == 1);
static_assert(fields<message::OutcomeStep>() == 6);
static_assert(fields<message::NeededFirst>() == 2);
static_assert(fields<message::Outcomes>() == 15);
static_assert(fields<message::JobFailed>() == 4);
static_assert(fields<message::Lend>() == 6);
static_assert(fields<message::WantedInput>() == 4);
static_assert(fields<message::Stop>() == 4);
static_assert(fields<message::Ended>() == 5);
static_assert(fields<message::Return>() == 7);
static_assert(fields<message::Release>() == 4);
static_assert(fields<message::Replicate>() == 6);
static_assert(fields<message::SavedAs>() == 4);
static_assert(fields<message::Holding>() == 4);
static_assert(fields<message::Digested>() == 5);
static_assert(fields<message::Checkpointed>() == 4);
static_assert(fields<message::Report>() == 6);
static_assert(fields<message::Report::Had>() == 2);
static_assert(fields<message::Report::Running>() == 2);
static_assert(fields<message::StealRequest>() == 2);
static_assert(fields<message::PredecessorEnded>() == 8);
static_assert(fields<message::Consumed>() == 5);
static_assert(fields<message::NotEnded>() == 7);
static_assert(fields<message::Need>() == 6);
static_assert(fields<message::Located>() == 7);
static_assert(fields<message::Fetch>() == 2);
static_assert(fields<message::Data>() == 5);
static_assert(fields<message::Missing>() == 2);
static_assert(std::variant_size_v<JobMessage> == 30);

static_assert(fields<command::Lead>() == 3);
static_assert(fields<command::Said>() == 2);
static_assert(fields<command::LivesUp>() == 1);
static_assert(fields<command::LifeDown>() == 2);
static_assert(fields<LifeEnd>() == 4);
static_assert(fields<command::Keep>() == 1);
static_assert(fields<command::Cancel>() == 1);
static_assert(fields<command::Stop>() == 1);
static_assert(fields<command::Close>() == 0);
static_assert(std::variant_size_v<CellCommand> == 8);
static_assert(fields<CellCounts>() == 8);
static_assert(fields<RecordedOutcome>() == 2);
static_assert(fields<ShardSnapshot>() == 7);
static_assert(fields<CellSnapshot>() == 16);
static_assert(fields<Submission>() == 5);

static_assert(fields<ProgramId>() == 3);
static_assert(fields<Launch>() == 8);
static_assert(fields<JobCounts>() == 6);
static_assert(fields<WorkerInfo>() == 5);
static_assert(fields<JobInfo>() == 11);
static_assert(fields<JobDetails>() == 6);
static_assert(fields<TaskInfo>() == 6);
static_assert(fields<ClassInfo>() == 2);
static_assert(fields<TaskProgress>() == 6);
static_assert(fields<RunEstimate>() == 4);
static_assert(fields<NodeInfo>() == 8);
static_assert(fields<HeardOf>() == 2);
static_assert(fields<client::AskHandle>() == 1);
static_assert(fields<client::AskSubmit>() == 12);  // Two of them stay at the gateway.
static_assert(fields<client::AskNodes>() == 1);
static_assert(fields<client::AskJobs>() == 3);
static_assert(fields<JobFilter>() == 4);
static_assert(fields<client::AskEnd>() == 2);
static_assert(fields<client::AskCancel>() == 2);
static_assert(fields<client::AskShutdown>() == 1);
static_assert(fields<client::Answer>() == 12);
static_assert(fields<JournalPage>() == 3);
static_assert(fields<JournalPlace>() == 3);
static_assert(fields<TaskSelector>() == 6);
static_assert(fields<TaskRange>() == 3);
static_assert(fields<PathLeft>() == 3);
static_assert(fields<ProcessExplained>() == 10);
static_assert(fields<HeldOutputs>() == 3);
static_assert(fields<TaskExplained>() == 15);
static_assert(fields<TaskNeeds>() == 4);
static_assert(fields<RunningNow>() == 8);
static_assert(fields<recorded::Candidate>() == 5);
static_assert(fields<client::Want>() == 2);
static_assert(fields<client::ForgetJob>() == 1);
static_assert(fields<client::TaskSettled>() == 5);
static_assert(fields<client::JobEnded>() == 3);
static_assert(fields<client::JobLost>() == 2);
static_assert(fields<client::AskFollow>() == 5);
static_assert(fields<client::AskOutputs>() == 3);
static_assert(fields<client::AskRetry>() == 3);
static_assert(fields<OutputInfo>() == 2);
static_assert(fields<client::AskDrain>() == 2);
static_assert(fields<client::JobMoved>() == 1);
static_assert(fields<client::AskExplain>() == 3);
static_assert(fields<client::AskJournal>() == 5);
static_assert(std::variant_size_v<ClientMessage> == 20);

static_assert(fields<Endpoint>() == 3);
static_assert(fields<RunningAttempt>() == 4);
static_assert(fields<keeper::StartWorker>() == 4);
static_assert(fields<keeper::StopWorkers>() == 1);
static_assert(fields<keeper::WorkerUp>() == 5);
static_assert(fields<keeper::WorkerDown>() == 7);
static_assert(fields<keeper::WorkerRefused>() == 3);
static_assert(fields<keeper::WantProgram>() == 1);
static_assert(fields<keeper::Unheard>() == 2);
static_assert(fields<keeper::StopWorker>() == 2);
static_assert(fields<keeper::AnotherLeads>() == 1);
static_assert(fields<keeper::KeepProgram>() == 1);
static_assert(fields<keeper::HaveProgram>() == 1);
static_assert(fields<keeper::ProgramBytes>() == 2);
static_assert(fields<keeper::Begin>() == 4);
static_assert(fields<keeper::JobsGiven>() == 1);
static_assert(fields<keeper::SaveCopy>() == 4);
static_assert(fields<KeepSave>() == 4);
static_assert(fields<keeper::Explain>() == 3);
static_assert(fields<keeper::Explained>() == 3);
static_assert(std::variant_size_v<KeeperMessage> == 17);

}  // namespace
}  // namespace dag::wire
