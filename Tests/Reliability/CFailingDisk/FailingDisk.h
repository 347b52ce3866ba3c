#ifndef FAILING_DISK_H
#define FAILING_DISK_H

#include <stdint.h>

// A disk that fails as it is told: a library that is loaded before a program (LD_PRELOAD) and stands
// between it and the C library's calls for files below one folder.
//
//   FAILING_DISK_FOLDER    the folder; files elsewhere are let alone
//   FAILING_DISK_CONTROL   a file of sizeof(struct failing_disk_control) bytes, which another program
//                          writes while this one runs; it numbers the entries of the journal, too
//   FAILING_DISK_JOURNAL   the beginning of a path, behind which comes the number of the process: to this
//                          file it is written what a loss of power would undo; none without

// What goes wrong.
enum {
  FAILING_DISK_SOUND = 0,
  // Writes that make a file longer find half the room that they need, and then none.
  FAILING_DISK_FULL = 1,
  FAILING_DISK_WRITE_ERROR = 2,
  FAILING_DISK_SYNC_ERROR = 3,
  FAILING_DISK_READ_ERROR = 4,
  // The process is killed, as by SIGKILL from outside.
  FAILING_DISK_KILL_BEFORE_SYNC = 5,
  FAILING_DISK_KILL_AFTER_SYNC = 6,
  FAILING_DISK_KILL_IN_WRITE = 7,
  // Syncs say that they have been done, and do nothing.
  FAILING_DISK_LYING_SYNC = 8,
  // Syncs fail, and what was to be synced never reaches the disk, whatever later syncs say
  // (https://www.usenix.org/conference/atc20/presentation/rebello). It can be read until the power goes.
  FAILING_DISK_FORGETTING_SYNC = 9,
  // As FAILING_DISK_FULL, for all writes: some file systems write nothing over what is there.
  FAILING_DISK_FULL_ANYWHERE = 10,
};

struct failing_disk_control {
  volatile uint32_t fault;
  // Calls of the kind that are let pass before it strikes.
  volatile int32_t countdown;
  // How often it strikes; negative: each time from then on.
  volatile int32_t times;
  // Counted by the program with the library.
  volatile uint32_t struck;
  volatile uint32_t writes;
  volatile uint32_t syncs;
  // Of the next entry of the journal.
  volatile uint64_t next_number;
};

// Entries of the journal: this head, then the bytes or the paths.
enum {
  // Bytes at `offset` were replaced, or the file was cut to `offset`; what was there follows.
  FAILING_DISK_WROTE = 1,
  FAILING_DISK_CUT = 2,
  // Everything of a file, or of a folder's names, before the entry number `offset` is on the disk.
  FAILING_DISK_SYNCED = 3,
  // Names; the inode is that of the folder. The paths follow, each with a zero at its end.
  FAILING_DISK_MADE = 4,
  FAILING_DISK_RENAMED = 5,
  FAILING_DISK_LINKED = 6,
  // The file is kept under the second path.
  FAILING_DISK_REMOVED = 7,
  // What of a file before the entry number `offset` is not on the disk never will be.
  FAILING_DISK_FORGOT = 8,
};

struct failing_disk_entry {
  uint32_t kind;
  // Bytes that follow.
  uint32_t length;
  uint64_t number;
  uint64_t inode;
  uint64_t offset;
  // Of the write itself.
  uint64_t count;
  // The file's length before.
  uint64_t size;
};

#endif
