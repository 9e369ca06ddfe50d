@0xb3f1c27a6e5d4a11;
# The log of a job's cell: the commands that its replicas apply one after the other, and snapshots of the state that they
# made (libdag/cell/command.hpp, snapshot.hpp). These bytes lie on disks: fields are added, none changes.

using Cxx = import "/capnp/c++.capnp";
using Ids = import "ids.capnp";
using Records = import "records.capnp";
using Cell = import "cell.capnp";
using Keeper = import "keeper.capnp";
$Cxx.namespace("dag::schema");

struct CellCommand {
  # An unknown command stops the replica: it would come to another state than the others.
  union {
    invalid @0 :Void;            # what nobody set; refused
    lead @1 :Lead;
    said @2 :Said;
    livesUp @3 :List(Ids.Life);
    lifeDown @4 :Keeper.Keeper;  # a WorkerDown, whatever that life was
    keep @5 :List(Ids.TaskId);
    cancel @6 :List(Ids.TaskId); # none: the whole job
    stop @7 :Records.Error;
    close @8 :Void;
  }
}

struct Lead {                    # the first of each leader
  leader @0 :Ids.Life;
  up @1 :List(Ids.Life);         # whom it knows to be there, and whom not, of those that the cell may know otherwise
  down @2 :List(Ids.Life);
}

struct Said {                    # Outcomes or JobFailed, of a home
  from @0 :Ids.Life;
  message @1 :Cell.Cell;
}

struct CellSnapshot {
  create @0 :Cell.Cell;          # JobCreate
  leadersRun @1 :Bool;
  replicas @2 :UInt32;
  state @3 :Cell.Cell;           # JobState; of version 0: the job has not begun
  shards @4 :List(Shard);
  firstTry @5 :List(Cell.FirstTry);
  tried @6 :List(Cell.Tried);
  kept @7 :List(Ids.TaskId);
  cancelled @8 :List(Ids.TaskId);
  gone @9 :List(Ids.Life);       # of each process that died, the newest life
  closed @10 :List(Ids.Life);    # who took part when the job was closed
  done @11 :Bool;
  settledRows @12 :UInt64;
  openRows @13 :UInt64;
  finishedRows @14 :UInt64;
  failedRows @15 :UInt64;
  skippedRows @16 :UInt64;
  cancelledRows @17 :UInt64;
  started @18 :List(Ids.TaskId);
  attached @19 :Data;            # what whoever began the job wants to find again: a Submission
  toleratedRows @20 :UInt64;     # of those that failed
  missedRows @21 :UInt64;        # of those that were skipped
  retries @22 :Ids.JobId;        # runs again what did not finish in that job; 0: none. Not begun, the state has homes that are nobody
}

struct Submission {              # what the nodes need to know of a job, beside its plan
  launch @0 :Keeper.Launch;
  detached @1 :Bool;             # nobody fetches its outputs
  accepted @2 :Int64;            # ns since 1970, by the clock of the node that took it
  key @3 :UInt64;                # of its client
  retries @4 :Ids.JobId;         # the job that it retries; 0: none
}

struct Shard {
  position @0 :UInt64;           # of the newest Settled sent to the home
  outcomes @1 :UInt64;           # number of the newest Outcomes heard of it
  rowsOpen @2 :UInt64;
  heard @3 :Bool;
  steps @4 :UInt64;              # of the present home, recorded
  waiting @5 :List(Cell.Cell);   # Outcomes: said and not recorded
  settled @6 :List(Records.OutcomeRecord);   # in the order of settling
  homes @7 :List(Ids.Life);      # of each of them: the shard's home when it was recorded
}
