@0xb3f7aca180fe4a09;
# The worker processes of a job: started, named, ended. A keeper is the part of a node that holds them.
#
#   keeper -> keeper   StartWorker (ends in WorkerRefused, or in WorkerUp that a WorkerDown follows), StopWorkers, WorkerUp,
#                      WorkerDown, WorkerRefused
#   keeper <-> keeper  KeepProgram (have this program, from me if need be; answered by HaveProgram when it is kept);
#                      WantProgram (owes ProgramBytes), ProgramBytes; a client sends ProgramBytes too, when it is asked to
#   keeper -> keeper   StopWorker (that one is to end; a WorkerDown follows if it was up)
#   keeper -> keeper   AnotherLeads (the sender did; the job's processes there go on if that one asks for them)
#   worker -> keeper   Unheard (others of the job that owe the sender an answer, and are silent; the newest counts)
#   keeper -> worker   Begin (who the others are; the first one lets it begin)
#   keeper -> worker   Explain (why tasks are where they are; answered by Explained with its number, and not repeated)
#
# A worker process of a job on a node is named by job and `number`, so a repeated StartWorker starts nothing twice. It ends:
# every StartWorker has one WorkerRefused or WorkerDown, or its node dies; after StopWorkers no process of the job is left.

using Cxx = import "/capnp/c++.capnp";
using Ids = import "ids.capnp";
using Records = import "records.capnp";
using Explain = import "explain.capnp";
$Cxx.namespace("dag::schema");

struct Keeper {
  job @0 :Ids.JobId;             # of messages about one
  number @1 :UInt32;             # of the worker process; of messages about one
  union {
    startWorker @2 :Launch;
    stopWorkers @3 :Void;
    workerUp @4 :WorkerUp;
    workerDown @5 :WorkerDown;
    workerRefused @6 :Records.Error;
    wantProgram @7 :ProgramId;
    programBytes @8 :ProgramBytes;
    begin @9 :Begin;
    jobsGiven @11 :UInt32;       # to a node that has come: its earlier lives gave out handles up to this count
    saveCopy @12 :SaveCopy;      # to a node with a copy of the job's record, for its disk
    keepProgram @13 :ProgramId;
    haveProgram @14 :ProgramId;
    unheard @15 :List(Ids.Life); # to who leads the job: all its processes that the sender does not hear any more
    stopWorker @16 :Void;
    explain @17 :Explain.TaskSelector;
    explained @18 :Explain.ProcessExplained;
    anotherLeads @20 :Void;
  }
  term @10 :UInt32;              # in which the sender leads the job's record: of startWorker, begin; 0: nobody else ever will
  question @19 :UInt64;          # of explain, and of its answer
}

struct ProgramId {
  # A program by its content: what its bytes hash to (XXH3, 128 bit), and how many there are.
  hashHigh @0 :UInt64;
  hashLow @1 :UInt64;
  sizeBytes @2 :UInt64;
}

struct Launch {
  # How a job's binary is started as a worker process: as the client was.
  program @0 :ProgramId;
  build @1 :Text;                # of the client, as in a Hello
  arguments @2 :List(Text);      # its own name first; one may be empty
  directory @3 :Text;            # where it does not exist, the worker process starts in /
  environment @4 :List(Text);    # NAME=VALUE, what travels of the client's
  limits @5 :List(UInt64);       # soft ones of the client, by Linux's numbers: the first is that of CPU time; all ones: none
  libraryPath @6 :Text;          # as in LD_LIBRARY_PATH, with what the program's $ORIGIN stood for
  session @7 :UInt64;            # drawn by the client: its jobs may share processes, one after the other. 0: none do
}

struct Endpoint {
  control @0 :Text;              # HOST:PORT
  bulk @1 :Text;
  web @2 :Text;                  # HTTP; null: it has none
}

struct WorkerUp {
  life @0 :Ids.Life;
  endpoint @1 :Endpoint;
  pid @2 :UInt32;                # on its host
}

struct WorkerDown {
  # Nothing of that life will be heard any more.
  life @0 :Ids.Life;
  end @1 :End;
  hasGuiltyLane @2 :Bool;        # it is known which lane faulted
  guiltyLane @3 :UInt32;
  text @4 :Text;                 # for people
  running @5 :List(Running);     # what ran on its lanes, where known

  enum End {
    faulted @0;
    outOfMemory @1;
    killed @2;
    stoppedByUs @3;
    wentWithNode @4;
  }
  struct Running {
    task @0 :Ids.TaskId;
    epoch @1 :Ids.Epoch;
    attempt @2 :Ids.AttemptNumber;
    lane @3 :UInt32;
    suspected @4 :UInt32;        # how often the task was a suspect before
  }
}

struct ProgramBytes {
  program @0 :ProgramId;
  bytes @1 :Data;                # null: the sender does not have it (any more)
}

struct SaveCopy {
  # A save of a job actor, or a checkpoint of a task.
  jobName @0 :Text;
  actorName @1 :Text;            # or the task's
  group @2 :UInt32;              # the save group's first job actor
  members @3 :UInt32;            # job actors of the group; 0: of a task
  number @4 :UInt32;             # from 1
  actor @5 :UInt32;
  name @6 :Records.OutputName;
  inputs @7 :List(Records.OutputName);   # of a task: what it was computed from
  bytes @8 :Data;
}

struct Begin {
  cell @0 :Ids.Life;             # where the record of the job lies
  others @1 :List(Endpoint);     # of the job's processes
}
