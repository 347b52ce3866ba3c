// What `Scripts/sanitize.py` runs before the tests: each sanitizer must tell of the fault that is planted
// for it here, and must not take a lock that many wait for as none.

import Foundation
import Synchronization

final class Tally: @unchecked Sendable {
  let locked = Mutex(0)
  let begun = Atomic(0)
  var bare = 0
}

let tally = Tally()

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

switch CommandLine.arguments.last {
case "race":
  together { tally.bare += 1 }
case "lock":
  // Long enough for the other to have to wait.
  together { tally.locked.withLock { for _ in 0..<1000 { $0 += 1 } } }
case "memory":
  let numbers = UnsafeMutablePointer<Int>.allocate(capacity: 4)
  numbers.deallocate()
  numbers[0] = CommandLine.arguments.count
default:
  print("planted: race, lock or memory?")
}
