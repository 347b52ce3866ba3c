import Synchronization
import Testing
import Waiting
import WebServices

@testable import DatabaseAPI

struct RequestTurnsTests {
  /// As large as one that takes long.
  private static let bytes = 8 << 20

  private func caller(_ name: String) -> FairQueue.Caller {
    FairQueue.Caller(subject: .user, name: name)
  }

  /// Turns of which one caller has all in hand, until `body` has ended.
  private func withBusyTurns(_ body: (RequestTurns) async throws -> Void) async throws {
    var limits = FairQueue.Limits()
    limits.little = 0
    let turns = RequestTurns(limits: limits) { 0 }
    for name in ["a", "b"] { _ = try await turns.take(for: caller(name), "q", bytes: 0) { [1] } }
    let mayEnd = Flag()
    let holders = (0..<FairQueue.Limits().longAtOnce).map { _ in
      hold(turns, caller("a"), until: mayEnd)
    }
    try await eventually("they are in hand") { mayEnd.reached == holders.count }
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await body(turns)) } catch { outcome = .failure(error) }
    mayEnd.raise()
    for holder in holders { _ = try await holder.value }
    try outcome.get()
  }

  /// A flag that a request in progress waits for.
  private final class Flag: Sendable {
    private let state = Mutex((isUp: false, reached: 0))
    var isUp: Bool { state.withLock(\.isUp) }
    var reached: Int { state.withLock(\.reached) }
    func raise() { state.withLock { $0.isUp = true } }
    func reach() { state.withLock { $0.reached += 1 } }
  }

  private func hold(
    _ turns: RequestTurns, _ caller: FairQueue.Caller, until flag: Flag
  ) -> Task<[UInt8], any Error> {
    Task {
      try await turns.take(for: caller, "q", bytes: Self.bytes) {
        flag.reach()
        try await eventually("it may end") { flag.isUp }
        return [1]
      }
    }
  }

  private func ask(
    _ turns: RequestTurns, _ name: String, bytes: Int = bytes
  ) -> Task<[UInt8], any Error> {
    Task { try await turns.take(for: caller(name), "q", bytes: bytes) { [2] } }
  }

  @Test("a long request waits, a short one does not")
  func waiting() async throws {
    var waiting: Task<[UInt8], any Error>?
    try await withBusyTurns { turns in
      waiting = ask(turns, "b")
      try await eventually("it waits") { turns.metrics.waiting == 1 }
      #expect(try await ask(turns, "c", bytes: 10).value == [2])
      #expect(turns.metrics.delayed == 1)
    }
    #expect(try await waiting?.value == [2])
  }

  @Test("one whose client leaves waits no more, and takes nobody's turn")
  func cancelled() async throws {
    try await withBusyTurns { turns in
      let left = (0..<5).map { _ in ask(turns, "b") }
      try await eventually("they wait") { turns.metrics.waiting == 5 }
      for task in left { task.cancel() }
      for task in left {
        await #expect(throws: CancellationError.self) { _ = try await task.value }
      }
      #expect(turns.metrics.waiting == 0)
    }
  }

  @Test("beyond what may wait of a caller it is refused with a time to come back")
  func refused() async throws {
    let limit = FairQueue.Limits().waitingOfCaller
    var tasks: [Task<[UInt8], any Error>] = []
    try await withBusyTurns { turns in
      tasks = [ask(turns, "c")]
      try await eventually("another's waits") { turns.metrics.waiting == 1 }
      tasks += (0..<limit).map { _ in ask(turns, "b") }
      try await eventually("they wait") { turns.metrics.waiting == limit + 1 }
      let refusal = await #expect(throws: ServiceError.self) { _ = try await ask(turns, "b").value }
      #expect(refusal?.code == .throttled)
      #expect(refusal?.retryAfter == 1)
      #expect(turns.metrics.refused == 1)
      let other = ask(turns, "d")
      try await eventually("a third's waits") { turns.metrics.waiting == limit + 2 }
      tasks.append(other)
    }
    for task in tasks { #expect(try await task.value == [2]) }
  }

  @Test("turns that come while requests are being cancelled are lost to nobody")
  func races() async throws {
    let turns = RequestTurns { 0 }
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<2_000 {
        group.addTask {
          let task = ask(turns, "\(number % 3)")
          if number.isMultiple(of: 2) {
            await Task.yield()
            task.cancel()
          }
          _ = await task.result
        }
      }
    }
    #expect(turns.metrics.waiting == 0)
    for name in ["a", "b", "c"] { #expect(try await ask(turns, name).value == [2]) }
  }
}
