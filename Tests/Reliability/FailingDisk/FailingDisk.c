#define _GNU_SOURCE
#include "FailingDisk.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// Descriptors beyond are let alone: a server's files are opened before its connections are many.
#define DESCRIPTORS 4096

static struct failing_disk_control *control;
static char folder[PATH_MAX];
static size_t folder_length;
static char journal_path[PATH_MAX];
static int journal = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// So that of two syncs at a time each knows of the other's failure.
static pthread_mutex_t sync_lock = PTHREAD_MUTEX_INITIALIZER;
// Goes on from one process to the next where there is a control.
static uint64_t own_number;
static uint64_t *next_number = &own_number;
static unsigned char tracked[DESCRIPTORS];
// Descriptors whose next sync tells of one of another descriptor that failed.
static unsigned char owes_error[DESCRIPTORS];

#define REAL(type, name, ...)                                                                      \
  typedef type (*name##_function)(__VA_ARGS__);                                                    \
  static name##_function real_##name;                                                              \
  static inline name##_function find_##name(void) {                                                \
    if (!real_##name) real_##name = (name##_function)dlsym(RTLD_NEXT, #name);                      \
    return real_##name;                                                                            \
  }

REAL(int, open, const char *, int, ...)
REAL(int, openat, int, const char *, int, ...)
REAL(int, close, int)
REAL(ssize_t, write, int, const void *, size_t)
REAL(ssize_t, pwrite, int, const void *, size_t, off_t)
REAL(ssize_t, pwritev, int, const struct iovec *, int, off_t)
REAL(ssize_t, read, int, void *, size_t)
REAL(ssize_t, pread, int, void *, size_t, off_t)
REAL(int, ftruncate, int, off_t)
REAL(int, fallocate, int, int, off_t, off_t)
REAL(int, fsync, int)
REAL(int, fdatasync, int)
REAL(int, rename, const char *, const char *)
REAL(int, link, const char *, const char *)
REAL(int, linkat, int, const char *, int, const char *, int)
REAL(int, unlink, const char *)
REAL(int, mkdir, const char *, mode_t)

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAILING_DISK_FOLDER");
  const char *control_path = getenv("FAILING_DISK_CONTROL");
  const char *journal_name = getenv("FAILING_DISK_JOURNAL");
  if (!path || !control_path || !realpath(path, folder)) return;
  folder_length = strlen(folder);
  int descriptor = find_open()(control_path, O_RDWR | O_CLOEXEC);
  if (descriptor >= 0) {
    void *memory = mmap(
      NULL, sizeof(struct failing_disk_control), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory != MAP_FAILED) {
      control = memory;
      next_number = (uint64_t *)&control->next_number;
    }
    find_close()(descriptor);
  }
  if (journal_name) {
    // One for each process: the last entry of one that was killed may be there in part.
    snprintf(journal_path, sizeof journal_path, "%s.%d", journal_name, getpid());
    journal = find_open()(journal_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }
}

static int is_inside(const char *path) {
  return folder_length > 0 && strncmp(path, folder, folder_length) == 0
    && (path[folder_length] == '/' || path[folder_length] == 0);
}

// The path from the root; the last part need not be there.
static int resolve(const char *path, char *resolved) {
  if (realpath(path, resolved)) return 1;
  char copy[PATH_MAX];
  snprintf(copy, sizeof copy, "%s", path);
  char *slash = strrchr(copy, '/');
  const char *parent = ".";
  const char *name = copy;
  if (slash) {
    *slash = 0;
    name = slash + 1;
    parent = slash == copy ? "/" : copy;
  }
  char parent_path[PATH_MAX];
  if (!realpath(parent, parent_path)) return 0;
  return snprintf(resolved, PATH_MAX, "%s/%s", parent_path, name) < PATH_MAX;
}

// The memory that processes share over an index of a log is made anew after a loss of power.
static int is_durable(const char *path) {
  size_t length = strlen(path);
  return length < 4 || strcmp(path + length - 4, "-shm") != 0;
}

static int is_tracked(int descriptor) {
  return descriptor >= 0 && descriptor < DESCRIPTORS && tracked[descriptor];
}

// Whether the fault is there and its time has come.
static int strikes(uint32_t fault) {
  if (!control || control->fault != fault) return 0;
  pthread_mutex_lock(&lock);
  int now = 0;
  if (control->countdown > 0) {
    control->countdown--;
  } else if (control->times != 0) {
    if (control->times > 0) control->times--;
    control->struck++;
    now = 1;
  }
  pthread_mutex_unlock(&lock);
  return now;
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static uint64_t inode_of_folder(const char *path) {
  char parent[PATH_MAX];
  snprintf(parent, sizeof parent, "%s", path);
  char *slash = strrchr(parent, '/');
  if (slash) *slash = 0;
  struct stat info;
  return stat(parent, &info) == 0 ? info.st_ino : 0;
}

static void put(struct failing_disk_entry entry, const void *bytes) {
  if (journal < 0) return;
  char *whole = malloc(sizeof entry + entry.length);
  if (!whole) return;
  pthread_mutex_lock(&lock);
  entry.number = (*next_number)++;
  memcpy(whole, &entry, sizeof entry);
  if (entry.length) memcpy(whole + sizeof entry, bytes, entry.length);
  // One call, so that an entry is there whole or not at all when the process is killed.
  ssize_t written = find_write()(journal, whole, sizeof entry + entry.length);
  pthread_mutex_unlock(&lock);
  free(whole);
  if (written < 0) abort();
}

static void put_names(uint32_t kind, const char *one, const char *two) {
  char names[2 * PATH_MAX];
  size_t length = 0;
  memcpy(names, one, strlen(one) + 1);
  length = strlen(one) + 1;
  if (two) {
    memcpy(names + length, two, strlen(two) + 1);
    length += strlen(two) + 1;
  }
  struct failing_disk_entry entry = { .kind = kind, .length = (uint32_t)length };
  entry.inode = inode_of_folder(kind == FAILING_DISK_RENAMED || kind == FAILING_DISK_LINKED ? two : one);
  put(entry, names);
}

// Keeps what a write of so many bytes is going to replace.
static void put_write(int descriptor, uint64_t offset, uint64_t count, int is_cut) {
  if (control) __atomic_fetch_add(&control->writes, 1, __ATOMIC_RELAXED);
  if (journal < 0) return;
  struct stat info;
  if (fstat(descriptor, &info) != 0) return;
  uint64_t size = (uint64_t)info.st_size;
  uint64_t old = offset >= size ? 0 : size - offset;
  if (!is_cut && old > count) old = count;
  char *bytes = old ? malloc(old) : NULL;
  uint64_t kept = 0;
  while (bytes && kept < old) {
    ssize_t part = find_pread()(descriptor, bytes + kept, old - kept, (off_t)(offset + kept));
    if (part <= 0) break;
    kept += (uint64_t)part;
  }
  struct failing_disk_entry entry = {
    .kind = is_cut ? FAILING_DISK_CUT : FAILING_DISK_WROTE, .length = (uint32_t)kept,
    .inode = info.st_ino, .offset = offset, .count = count, .size = size,
  };
  put(entry, bytes);
  free(bytes);
}

// MARK: Opening and closing

static int opened(int descriptor) {
  if (descriptor < 0 || descriptor >= DESCRIPTORS || !folder_length) return descriptor;
  int error = errno;
  char link_name[64], path[PATH_MAX];
  snprintf(link_name, sizeof link_name, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link_name, path, sizeof path - 1);
  if (length > 0) {
    path[length] = 0;
    tracked[descriptor] = is_inside(path) && is_durable(path);
    owes_error[descriptor] = 0;
  }
  errno = error;
  return descriptor;
}

static void about_to_make(const char *path) {
  if (journal < 0) return;
  int error = errno;
  char resolved[PATH_MAX];
  if (resolve(path, resolved) && is_inside(resolved) && is_durable(resolved)
      && access(resolved, F_OK) != 0)
    put_names(FAILING_DISK_MADE, resolved, NULL);
  errno = error;
}

#define MODE                                                                                       \
  mode_t mode = 0;                                                                                 \
  if (flags & (O_CREAT | O_TMPFILE)) {                                                             \
    va_list arguments;                                                                             \
    va_start(arguments, flags);                                                                    \
    mode = va_arg(arguments, mode_t);                                                              \
    va_end(arguments);                                                                             \
  }

int open(const char *path, int flags, ...) {
  MODE
  if (flags & O_CREAT) about_to_make(path);
  return opened(find_open()(path, flags, mode));
}

int open64(const char *path, int flags, ...) {
  MODE
  if (flags & O_CREAT) about_to_make(path);
  return opened(find_open()(path, flags | O_LARGEFILE, mode));
}

int openat(int parent, const char *path, int flags, ...) {
  MODE
  if ((flags & O_CREAT) && (parent == AT_FDCWD || path[0] == '/')) about_to_make(path);
  return opened(find_openat()(parent, path, flags, mode));
}

int openat64(int parent, const char *path, int flags, ...) {
  MODE
  if ((flags & O_CREAT) && (parent == AT_FDCWD || path[0] == '/')) about_to_make(path);
  return opened(find_openat()(parent, path, flags | O_LARGEFILE, mode));
}

int close(int descriptor) {
  if (descriptor >= 0 && descriptor < DESCRIPTORS) tracked[descriptor] = 0;
  return find_close()(descriptor);
}

// MARK: Reading and writing

// What becomes of a write: answered, or to be done with so many bytes and then perhaps answered so.
static ssize_t written(int descriptor, const void *bytes, size_t count, off_t offset, int is_placed) {
  struct stat info;
  uint64_t place = (uint64_t)offset;
  if (!is_placed) {
    int flags = fcntl(descriptor, F_GETFL);
    off_t current = lseek(descriptor, 0, SEEK_CUR);
    place = (uint64_t)current;
    if ((flags & O_APPEND) && fstat(descriptor, &info) == 0) place = (uint64_t)info.st_size;
  }
  if (strikes(FAILING_DISK_WRITE_ERROR)) {
    errno = EIO;
    return -1;
  }
  size_t part = count;
  int ends_in_death = 0;
  int grows = control && control->fault == FAILING_DISK_FULL && fstat(descriptor, &info) == 0
              && place + count > (uint64_t)info.st_size;
  if ((grows && strikes(FAILING_DISK_FULL)) || strikes(FAILING_DISK_FULL_ANYWHERE)) {
    part = control->struck % 2 ? count / 2 : 0;
    if (part == 0) {
      errno = ENOSPC;
      return -1;
    }
  }
  if (strikes(FAILING_DISK_KILL_IN_WRITE)) {
    part = count / 2;
    ends_in_death = 1;
  }
  put_write(descriptor, place, part, 0);
  ssize_t done = is_placed ? find_pwrite()(descriptor, bytes, part, offset)
                           : find_write()(descriptor, bytes, part);
  if (ends_in_death) die();
  return done;
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  if (!is_tracked(descriptor)) return find_write()(descriptor, bytes, count);
  return written(descriptor, bytes, count, 0, 0);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  if (!is_tracked(descriptor)) return find_pwrite()(descriptor, bytes, count, offset);
  return written(descriptor, bytes, count, offset, 1);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
  return pwrite(descriptor, bytes, count, offset);
}

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t offset) {
  if (!is_tracked(descriptor)) return find_pwritev()(descriptor, parts, count, offset);
  ssize_t done = 0;
  for (int part = 0; part < count; part++) {
    ssize_t result = written(
      descriptor, parts[part].iov_base, parts[part].iov_len, offset + done, 1);
    if (result < 0) return done > 0 ? done : result;
    done += result;
    if ((size_t)result < parts[part].iov_len) break;
  }
  return done;
}

ssize_t pwritev64(int descriptor, const struct iovec *parts, int count, off64_t offset) {
  return pwritev(descriptor, parts, count, offset);
}

ssize_t read(int descriptor, void *bytes, size_t count) {
  if (is_tracked(descriptor) && strikes(FAILING_DISK_READ_ERROR)) {
    errno = EIO;
    return -1;
  }
  return find_read()(descriptor, bytes, count);
}

ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
  if (is_tracked(descriptor) && strikes(FAILING_DISK_READ_ERROR)) {
    errno = EIO;
    return -1;
  }
  return find_pread()(descriptor, bytes, count, offset);
}

ssize_t pread64(int descriptor, void *bytes, size_t count, off64_t offset) {
  return pread(descriptor, bytes, count, offset);
}

int ftruncate(int descriptor, off_t size) {
  if (is_tracked(descriptor)) {
    struct stat info;
    if (fstat(descriptor, &info) == 0 && size > info.st_size && strikes(FAILING_DISK_FULL)) {
      errno = ENOSPC;
      return -1;
    }
    put_write(descriptor, (uint64_t)size, 0, 1);
  }
  return find_ftruncate()(descriptor, size);
}

int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

int fallocate(int descriptor, int mode, off_t offset, off_t count) {
  if (is_tracked(descriptor)) {
    if (strikes(FAILING_DISK_FULL)) {
      errno = ENOSPC;
      return -1;
    }
    struct stat info;
    // What it adds is gone when the power is.
    if (fstat(descriptor, &info) == 0) put_write(descriptor, (uint64_t)info.st_size, 0, 1);
  }
  return find_fallocate()(descriptor, mode, offset, count);
}

int fallocate64(int descriptor, int mode, off64_t offset, off64_t count) {
  return fallocate(descriptor, mode, offset, count);
}

// MARK: Syncing

// A sync has failed, and what it was for is clean to the kernel: no later sync will write it. Whoever has the
// file open is told once, as Linux does since 4.13; who opens it from now on is not.
static void forget(int descriptor) {
  struct stat info, other;
  if (fstat(descriptor, &info) != 0) return;
  pthread_mutex_lock(&sync_lock);
  pthread_mutex_lock(&lock);
  uint64_t before = *next_number;
  pthread_mutex_unlock(&lock);
  struct failing_disk_entry entry = {
    .kind = FAILING_DISK_FORGOT, .inode = info.st_ino, .offset = before,
  };
  put(entry, NULL);
  for (int one = 0; one < DESCRIPTORS; one++) {
    if (one != descriptor && tracked[one] && fstat(one, &other) == 0
        && other.st_ino == info.st_ino)
      owes_error[one] = 1;
  }
  pthread_mutex_unlock(&sync_lock);
}

// Whether another sync of the file has failed since the last one over this descriptor.
static int takes_error(int descriptor) {
  if (!owes_error[descriptor]) return 0;
  owes_error[descriptor] = 0;
  errno = EIO;
  return 1;
}

static int synced(int descriptor, int (*sync)(int)) {
  if (!is_tracked(descriptor)) return sync(descriptor);
  if (control) __atomic_fetch_add(&control->syncs, 1, __ATOMIC_RELAXED);
  if (strikes(FAILING_DISK_KILL_BEFORE_SYNC)) die();
  if (strikes(FAILING_DISK_SYNC_ERROR)) {
    errno = EIO;
    return -1;
  }
  if (strikes(FAILING_DISK_FORGETTING_SYNC)) {
    forget(descriptor);
    errno = EIO;
    return -1;
  }
  if (takes_error(descriptor)) return -1;
  if (strikes(FAILING_DISK_LYING_SYNC)) return 0;
  // What comes while the sync goes on may be after it.
  pthread_mutex_lock(&lock);
  uint64_t before = *next_number;
  pthread_mutex_unlock(&lock);
  int result = sync(descriptor);
  struct stat info;
  pthread_mutex_lock(&sync_lock);
  if (result == 0 && takes_error(descriptor)) {
    result = -1;
  } else if (result == 0 && fstat(descriptor, &info) == 0) {
    struct failing_disk_entry entry = {
      .kind = FAILING_DISK_SYNCED, .inode = info.st_ino, .offset = before,
    };
    put(entry, NULL);
  }
  pthread_mutex_unlock(&sync_lock);
  if (strikes(FAILING_DISK_KILL_AFTER_SYNC)) die();
  return result;
}

int fsync(int descriptor) { return synced(descriptor, find_fsync()); }
int fdatasync(int descriptor) { return synced(descriptor, find_fdatasync()); }

// MARK: Names

static const char *kept_path(char *path) {
  static uint64_t count;
  snprintf(
    path, PATH_MAX, "%s.kept.%d.%llu", journal_path, getpid(),
    (unsigned long long)__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED));
  return path;
}

static void about_to_remove(const char *path) {
  char kept[PATH_MAX];
  if (find_link()(path, kept_path(kept)) == 0) put_names(FAILING_DISK_REMOVED, path, kept);
}

int rename(const char *from, const char *to) {
  char one[PATH_MAX], two[PATH_MAX];
  if (journal >= 0 && resolve(from, one) && resolve(to, two) && is_inside(two)) {
    if (access(two, F_OK) == 0) about_to_remove(two);
    put_names(FAILING_DISK_RENAMED, one, two);
  }
  return find_rename()(from, to);
}

int link(const char *from, const char *to) {
  char one[PATH_MAX], two[PATH_MAX];
  if (journal >= 0 && resolve(from, one) && resolve(to, two) && is_inside(two)
      && access(two, F_OK) != 0)
    put_names(FAILING_DISK_LINKED, one, two);
  return find_link()(from, to);
}

int linkat(int from_parent, const char *from, int to_parent, const char *to, int flags) {
  char one[PATH_MAX], two[PATH_MAX];
  if (journal >= 0 && from_parent == AT_FDCWD && to_parent == AT_FDCWD && resolve(from, one)
      && resolve(to, two) && is_inside(two) && access(two, F_OK) != 0)
    put_names(FAILING_DISK_LINKED, one, two);
  return find_linkat()(from_parent, from, to_parent, to, flags);
}

int unlink(const char *path) {
  char resolved[PATH_MAX];
  if (journal >= 0 && resolve(path, resolved) && is_inside(resolved) && is_durable(resolved))
    about_to_remove(resolved);
  return find_unlink()(path);
}

int mkdir(const char *path, mode_t mode) {
  about_to_make(path);
  return find_mkdir()(path, mode);
}
