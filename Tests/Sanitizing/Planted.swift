// The program that `Scripts/sanitize.py` runs before the tests. Each sanitizer must report the
// fault that is planted here for it. It must report nothing where there is no fault: a lock that
// many threads wait for, a continuation that is resumed before it is awaited, a thread that has
// used OpenSSL and ends with the process.

import Foundation
import Synchronization

final class Tally: @unchecked Sendable {
  let locked = Mutex(0)
  let begun = Atomic(0)
  var bare = 0
  var thread = pthread_t()
}

let tally = Tally()

final class Parcel: Sendable {
  let content: Int
  init(_ content: Int) { self.content = content }
}

/// Returns a value that another thread has made. It is handed over by a continuation that is
/// resumed before it is awaited; the handover does not say which thread is first.
func handedOver() async -> Int {
  let parcel = await withUnsafeContinuation { (continuation: UnsafeContinuation<Parcel, Never>) in
    Thread.detachNewThread {
      continuation.resume(returning: Parcel(CommandLine.arguments.count))
      tally.begun.add(1, ordering: .relaxed)
    }
    while tally.begun.load(ordering: .relaxed) < 1 {}
  }
  return parcel.content
}

/// Does the same on two threads at once; what lets them begin says nothing of who is first.
func together(_ body: @escaping @Sendable () -> Void) {
  let ended = DispatchSemaphore(value: 0)
  for _ in 0..<2 {
    Thread.detachNewThread {
      tally.begun.add(1, ordering: .relaxed)
      while tally.begun.load(ordering: .relaxed) < 2 {}
      for _ in 0..<1000 { body() }
      ended.signal()
    }
  }
  for _ in 0..<2 { ended.wait() }
}

/// Uses OpenSSL in a thread that ends with the process, after OpenSSL has.
func endLast() {
  // OpenSSL registers its exit handler when it is used first. The handler that was registered last
  // runs first.
  atexit {
    tally.begun.store(2, ordering: .relaxed)
    pthread_join(tally.thread, nil)
  }
  pthread_create(
    &tally.thread, nil,
    { _ in
      typealias RandomBytes = @convention(c) (UnsafeMutablePointer<UInt8>, Int32) -> Int32
      var byte: UInt8 = 0
      _ = unsafeBitCast(dlsym(nil, "RAND_bytes"), to: RandomBytes.self)(&byte, 1)
      tally.begun.store(1, ordering: .relaxed)
      while tally.begun.load(ordering: .relaxed) < 2 { sched_yield() }
      return nil
    }, nil)
  while tally.begun.load(ordering: .relaxed) < 1 { sched_yield() }
}

switch CommandLine.arguments.last {
case "race":
  together { tally.bare += 1 }
case "lock":
  // Long enough for the other to have to wait.
  together { tally.locked.withLock { for _ in 0..<1000 { $0 += 1 } } }
case "continuation":
  print(await handedOver())
case "ending":
  endLast()
case "memory":
  let numbers = UnsafeMutablePointer<Int>.allocate(capacity: 4)
  numbers.deallocate()
  numbers[0] = CommandLine.arguments.count
default:
  print("planted: race, lock, continuation, memory or ending?")
}
