import Concurrency
import Dispatch
import Synchronization
import Testing
import Waiting

struct WaitingInTasksTests {
  @Test("a signal before the wait ends it, several count as one, and a cleared one does not count")
  func keptSignals() async throws {
    let signal = AsyncSignal()
    signal.signal()
    signal.signal()
    await signal.wait()
    signal.signal()
    signal.clear()
    let waiting = Task { await signal.wait() }
    try await eventually("the task waits") { signal.isAwaited }
    signal.signal()
    await waiting.value
    #expect(!signal.isAwaited)
  }

  @Test("a wait ends at its time, and one that may be cancelled at the cancellation")
  func ends() async throws {
    let signal = AsyncSignal()
    await signal.wait(atMost: 0.001)
    let waiting = Task { await signal.waitOrCancellation() }
    try await eventually("the task waits") { signal.isAwaited }
    waiting.cancel()
    await waiting.value
  }

  @Test("all tasks that wait for a condition go on when it becomes true, and later ones at once")
  func conditions() async throws {
    let condition = AsyncCondition()
    let counts = Counts()
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          await condition.wait {
            counts.asked.add(1, ordering: .relaxed)
            return counts.isTrue.load(ordering: .relaxed)
          }
          counts.over.add(1, ordering: .relaxed)
        }
      }
      while counts.asked.load(ordering: .relaxed) < 8 { await Task.yield() }
      #expect(counts.over.load(ordering: .relaxed) == 0)
      counts.isTrue.store(true, ordering: .relaxed)
      condition.becomeTrue()
    }
    #expect(counts.over.load(ordering: .relaxed) == 8)
    await condition.wait { counts.isTrue.load(ordering: .relaxed) }
  }

  private final class Counts: Sendable {
    let isTrue = Atomic(false)
    let asked = Atomic(0)
    let over = Atomic(0)
  }

  @Test("work on a queue returns its value or its error")
  func queues() async throws {
    struct Failure: Error {}
    let queue = DispatchQueue(label: "test")
    #expect(await queue.run { 7 } == 7)
    await #expect(throws: Failure.self) { try await queue.run { throw Failure() } }
  }
}
