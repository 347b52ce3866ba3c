// Tells ThreadSanitizer of continuations that are resumed before anybody waits for them
// (docs/operate/reliability.md, "Under sanitizers").
//
// Swift's runtime says that a resumption comes before what the task does next, and takes it up when the
// task is run anew. A task that finds its continuation resumed already goes on at once, without taking it
// up, so that what was made ready for it would seem unordered with its use. This library stands before the
// call that waits (LD_PRELOAD) and adds what is missing. In a program without ThreadSanitizer or without
// Swift it does nothing.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#define AWAIT "swift_continuation_await"

// The head of a continuation's frame, as compiled code lays it out.
struct Frame {
  void *parent;
  __attribute__((swiftasynccall)) void (*resume)(__attribute__((swift_async_context)) void *frame);
  size_t flags;
};

// Going on is done by way of the executor, which takes the resumption up, and perhaps by another thread.
static const size_t isExecutorSwitchForced = 2;

typedef __attribute__((swiftasynccall)) void (*Await)(struct Frame *frame);
typedef __attribute__((swiftasynccall)) void (*Resume)(__attribute__((swift_async_context)) void *frame);
typedef __attribute__((swiftcall)) void *(*CurrentTask)(void);

static Await await;
static CurrentTask currentTask;
static void (*acquire)(void *);

// Where the task goes on when it need not wait, which is then still in the call below.
static __thread Resume next;

__attribute__((constructor)) static void findFunctions(void) {
  await = (Await)dlsym(RTLD_NEXT, AWAIT);
  currentTask = (CurrentTask)dlsym(RTLD_DEFAULT, "swift_task_getCurrent");
  acquire = (void (*)(void *))dlsym(RTLD_DEFAULT, "__tsan_acquire");
}

__attribute__((swiftasynccall)) static void goOn(__attribute__((swift_async_context)) void *frame) {
  acquire(currentTask());
  __attribute__((musttail)) return next(frame);
}

__attribute__((swiftasynccall)) void awaitContinuation(struct Frame *frame) __asm__(AWAIT);

__attribute__((swiftasynccall)) void awaitContinuation(struct Frame *frame) {
  if (acquire != NULL && (frame->flags & isExecutorSwitchForced) == 0) {
    // The runtime reads this only to go on at once: where to go on after a wait it knows from before.
    next = frame->resume;
    frame->resume = goOn;
  }
  __attribute__((musttail)) return await(frame);
}
