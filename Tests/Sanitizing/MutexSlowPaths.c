// Tells ThreadSanitizer of locks of Swift's Mutex that somebody else has (docs/operate/reliability.md, "Under
// sanitizers").
//
// A Mutex that is free is taken and given back by atomic operations in the code that uses it, which is
// watched. Waiting for one that is taken, and waking who waits, are calls into the library Synchronization,
// which is not, so that what one thread did under the lock would seem unordered with what the next does.
// This library stands before that one (LD_PRELOAD) and adds what is missing. In a program without
// ThreadSanitizer or without Swift it does nothing.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// The handle comes where Swift passes `self`.
#define SELF __attribute__((swift_context)) void *handle

typedef __attribute__((swiftcall)) void (*Lock)(uint32_t thread, SELF);
typedef __attribute__((swiftcall)) bool (*TryLock)(SELF);
typedef __attribute__((swiftcall)) void (*Unlock)(SELF);

static Lock lock;
static TryLock tryLock;
static Unlock unlock;
static void (*acquire)(void *);
static void (*release)(void *);

__attribute__((constructor)) static void findFunctions(void) {
  lock = (Lock)dlsym(RTLD_NEXT, LOCK);
  tryLock = (TryLock)dlsym(RTLD_NEXT, TRY_LOCK);
  unlock = (Unlock)dlsym(RTLD_NEXT, UNLOCK);
  acquire = (void (*)(void *))dlsym(RTLD_DEFAULT, "__tsan_acquire");
  release = (void (*)(void *))dlsym(RTLD_DEFAULT, "__tsan_release");
}

__attribute__((swiftcall)) void lockSlow(uint32_t thread, SELF) __asm__(LOCK);
__attribute__((swiftcall)) bool tryLockSlow(SELF) __asm__(TRY_LOCK);
__attribute__((swiftcall)) void unlockSlow(SELF) __asm__(UNLOCK);

__attribute__((swiftcall)) void lockSlow(uint32_t thread, SELF) {
  lock(thread, handle);
  if (acquire != NULL) acquire(handle);
}

__attribute__((swiftcall)) bool tryLockSlow(SELF) {
  bool isLocked = tryLock(handle);
  if (isLocked && acquire != NULL) acquire(handle);
  return isLocked;
}

__attribute__((swiftcall)) void unlockSlow(SELF) {
  if (release != NULL) release(handle);
  unlock(handle);
}
