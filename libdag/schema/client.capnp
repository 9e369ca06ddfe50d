@0xbcd6e3bee8644a0a;
# Messages of a client to the keeper of a node, and answers and news of the jobs that it submitted or follows.
#
#   client -> keeper   askHandle ... askShutdown, askFollow, askDrain, askExplain, askJournal, askJobList, askOutputs, askRetry, askRetryUnfinished: a question with a number; owes
#                      an Answer with that number.
#                      want, forgetJob: owe nothing
#   keeper -> client   Answer; taskSettled, jobEnded, jobLost
#
# A submission is repeated under the same job without harm. Where the node does not have its program, an Answer that wants it
# comes first; the client sends the bytes (keeper.capnp), and the Answer that accepts the job follows. It ends: every question
# is answered, or its link breaks; of a job nothing is told after jobEnded or jobLost but the taskSettled of tasks that are
# wanted later.

using Cxx = import "/capnp/c++.capnp";
using Ids = import "ids.capnp";
using Records = import "records.capnp";
using Graph = import "graph.capnp".Graph;
using Keeper = import "keeper.capnp";
using Claim = import "membership.capnp".Claim;
using Explain = import "explain.capnp";
$Cxx.namespace("dag::schema");

struct Client {
  number @0 :UInt64;             # of the question, and of its answer
  job @1 :Ids.JobId;             # of messages about one
  union {
    askHandle @2 :Void;          # a handle for a job; creates nothing
    askSubmit @3 :AskSubmit;     # answered when the job is accepted
    askNodes @4 :Void;
    askJobs @5 :Bool;            # true: only `job`; false: all whose record is at this node
    askEnd @6 :Void;             # answered when the job has ended
    askCancel @7 :Void;          # answered when its tasks are told
    askShutdown @8 :Void;        # this node ends, with all its processes; answered before it begins to
    answer @9 :Answer;
    want @10 :UInt32;            # keep the output of this task of the graph, and say when it is settled
    forgetJob @11 :Void;         # nobody will ask for anything of the job any more
    taskSettled @12 :TaskSettled;
    jobEnded @13 :JobEnded;
    jobLost @14 :Records.Error;  # nothing more will come of it
    jobMoved @15 :Void;          # this node does not lead its record any more: askFollow
    askFollow @16 :AskFollow;    # goes on with a job that another node led
    askDrain @17 :Bool;          # true: this node is to go, and gets rid of all jobs; false: it stays
    askExplain @18 :Explain.TaskSelector;  # why tasks of `job` are where they are
    askJournal @19 :AskJournal;
    askJobList @20 :JobFilter;   # those of all whose record is at this node that it takes
    askOutputs @21 :Text;        # tasks of `job` with this name; without one, those of which no other task reads the output
    askRetry @22 :Void;          # submit `job`, which has ended, once more as it was; the answer names the copy
    askRetryUnfinished @23 :Void;  # the same, but of the copy only those tasks run that are not done in `job`
  }
}

struct AskSubmit {
  name @0 :Text;
  graph @1 :Graph;
  launch @2 :Keeper.Launch;
  detached @3 :Bool;             # nobody will fetch outputs: the job's processes end with it
  supervised @4 :Bool;           # a switch of the tests: no task is a bare row
  key @5 :UInt64;                # drawn by the client: another submission with this handle is another job. 0: none
  dryRun @6 :Bool;               # only whether it would be accepted; nothing starts
  kept @7 :Bool;                 # its outputs are kept after the client has gone, and askRetry takes it
}

struct AskFollow {
  tasks @0 :List(UInt32);        # are wanted, and the end
  key @1 :UInt64;                # as it was submitted with
  attaches @2 :Bool;             # another client submitted it, and stays its client
}

struct AskJournal {
  # A part of this node's journal of `job`.
  all @0 :Bool;                  # of all jobs: what is about a job as a whole
  logs @1 :Bool;                 # only what kernels said and processes printed
  read @2 :JournalPlace;         # up to there, from this node; file 0: nothing
  which @3 :Explain.TaskSelector;  # records about other tasks may be left out; null: of none
}

struct JobFilter {
  name @0 :Text;                 # they have it in theirs
  hasPhase @1 :Bool;
  phase @2 :JobInfo.Phase;       # if it is there
  failed @3 :Bool;               # they failed, or a task of theirs did
  first @4 :UInt32;              # so many of them: those that go on, then those that have ended, of each the newest; 0: all
}

struct Answer {
  # Without an error it says what was asked for.
  error @0 :Records.Error;       # null: none
  hasJob @1 :Bool;               # `job` beside it is new
  wantsProgram @2 :Bool;
  nodes @3 :List(NodeInfo);
  jobs @4 :List(JobInfo);
  elsewhere @5 :Text;            # HOST:PORT of the node that leads the job's record, with the error job_elsewhere; or
                                 # of one that takes jobs
  explained @6 :List(Explain.ProcessExplained);
  silent @7 :List(Ids.Life);     # processes of the job that have not explained anything in time
  journal @8 :JournalPage;       # null: none was asked for
  jobsBeyond @9 :UInt64;         # that JobFilter.first has left out
  outputs @10 :List(OutputInfo);
}

struct OutputInfo {
  task @0 :UInt32;
  name @1 :Text;
}

struct JournalPage {
  bytes @0 :Data;                # a journal of its own with what was asked for (libdag/journal/journal.hpp); null: nothing
  notices @1 :List(Text);        # what could not be read, for people
  read @2 :JournalPlace;         # up to there; file 0: there is no more, for now
}

struct JournalPlace {
  file @0 :UInt64;
  bytes @1 :UInt64;
  of @2 :UInt32;                 # the incarnation of the node that wrote that file
}

struct TaskSettled {
  task @0 :UInt32;
  outcome @1 :Records.Outcome;
  output @2 :Data;               # null: there is none, which is not one without bytes
  error @3 :Records.Error;       # null: none
}

struct JobCounts {
  open @0 :UInt64;
  finished @1 :UInt64;
  failed @2 :UInt64;
  skipped @3 :UInt64;
  cancelled @4 :UInt64;
  tolerated @5 :UInt64;          # of `failed`: the job finishes with them
}

struct JobEnded {
  stopped @0 :Records.Error;     # why before its end; null: it was not
  counts @1 :JobCounts;
}

struct NodeInfo {
  claim @0 :Claim;               # what the one that answers holds of it; beats mean nothing here
  jobs @1 :UInt32;               # whose record lies there; known of the node that answers only
  pid @2 :UInt32;                # likewise
  notReady @3 :List(Text);       # why it should not be sent to just now, for people; likewise
  heard @4 :HeardOf;             # by the node that answers; null: it is that node
}

struct HeardOf {
  ago @0 :Ids.Nanoseconds;       # since its last sign of life
  roundTrip @1 :Ids.Nanoseconds; # of a heartbeat and its answer; 0: not measured
}

struct JobInfo {
  job @0 :Ids.JobId;
  name @1 :Text;
  phase @2 :Phase;
  counts @3 :JobCounts;
  age @4 :Ids.Nanoseconds;       # since it was accepted; until its end when it has ended
  workers @5 :List(WorkerInfo);  # past ones included
  error @6 :Records.Error;       # why it failed, where it is not a task that did; null: it did not
  details @7 :JobDetails;        # null: all jobs were asked for, or it has not begun
  copies @8 :List(Ids.ProcessId);  # nodes that hold its record, as the one that leads it says; of others empty
  total @9 :UInt64;              # tasks that it will have in all, as it states; 0: it does not
  retries @10 :Ids.JobId;        # the job that it retries; 0: none

  enum Phase {
    starting @0;
    running @1;
    finished @2;
    failed @3;
    cancelled @4;
    noQuorum @5;  # at the node that was asked
    recovering @6;  # the node that was asked has just started, and has not read the record yet
  }
}

struct JobDetails {
  tasks @0 :List(TaskInfo);      # that a failure or a cancelling ended, or late, in the order of settling; some of them
  tasksBeyond @1 :UInt64;        # those that are not listed
  late @2 :UInt64;               # tasks that ended after their deadline
  classes @3 :List(ClassInfo);   # some of the names
  others @4 :JobCounts;          # tasks of all other names together
  progress @5 :List(TaskProgress);  # what kernels that run said last, by task
}

struct TaskProgress {
  task @0 :Ids.TaskId;
  name @1 :Text;
  number @2 :UInt32;             # of the attempt, as Context::attempt says
  device @3 :Text;               # the lane
  fraction @4 :Float64;          # from 0 to 1
  note @5 :Text;
}

struct TaskInfo {
  task @0 :Ids.TaskId;
  name @1 :Text;
  outcome @2 :Records.Outcome;
  tries @3 :UInt32;              # of its kernel; not counted when it finished
  error @4 :Records.Error;       # null: none
  late @5 :Ids.Nanoseconds;      # how long after its deadline it ended
}

struct ClassInfo {
  # Tasks of one name.
  name @0 :Text;
  counts @1 :JobCounts;
}

struct WorkerInfo {
  life @0 :Ids.Life;
  node @1 :Ids.ProcessId;
  pid @2 :UInt32;                # on its host
  up @3 :Bool;
  end @4 :Text;                  # how it ended, when it did not just finish
}
