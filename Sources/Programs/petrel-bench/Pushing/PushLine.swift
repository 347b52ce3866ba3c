import CloudKitModel
import CommandInterface
import Foundation
import HTTP2Transport
import PushChannels
import Synchronization

/// The sender of ``PushBenchmark``. The calling thread creates the pushes. The thread of an event
/// loop sends them, and receives the answers.
final class PushLine: Sendable {
  /// The most pushes that are *open*: passed to the client, but not answered. The connections can
  /// have half of them as open requests; the other half waits in the client.
  private let capacity: Int
  /// The number of pushes between two checks of ``capacity``.
  private static let batch = 100

  /// The state that the calling thread and the event loop's thread share. The lock protects it.
  private struct State {
    var underWay = 0
    /// The number of open pushes at which the calling thread continues; `nil` if this thread does
    /// not wait.
    var awaited: Int?
    /// The seconds from the passing of each push to the client until its answer.
    var delays: [Double] = []
    /// The description of the last result that was not a success; `nil` if there was none.
    var failure: String?
  }

  private let loop: EventLoop
  private let client: APNsClient
  private let state = Mutex(State())
  private let signal = DispatchSemaphore(value: 0)

  init(to peer: PushPeer, connections: Int) throws {
    capacity = 2 * PushPeer.streams * connections
    loop = try EventLoop(name: "petrel-apns")
    client = peer.client(on: loop, connections: connections)
  }

  func close() async {
    await client.close()
    loop.shutDown()
  }

  var connections: Int { client.metrics.connections }

  /// Creates and sends the pushes with these numbers, and waits for all answers.
  ///
  /// - Returns: For each push, the seconds from passing it to the client until the answer.
  func send(_ pushes: Range<Int>) throws -> [Double] {
    state.withLock { $0.delays.reserveCapacity(pushes.count) }
    var source = PushSource()
    for number in pushes {
      if number % Self.batch == 0 { wait(untilUnderWay: capacity - Self.batch) }
      let push = source.push(number)
      let start = monotonicSeconds()
      state.withLock { $0.underWay += 1 }
      client.send(push) { self.finish(start, $0) }
    }
    wait(untilUnderWay: 0)
    return try state.withLock { state in
      if let failure = state.failure { throw UsageError("a push was not accepted: \(failure)") }
      defer { state.delays = [] }
      return state.delays
    }
  }

  /// Waits until at most `count` pushes are open. The method returns at once if there are not more.
  private func wait(untilUnderWay count: Int) {
    let mustWait = state.withLock { state in
      guard state.underWay > count else { return false }
      // The thread waits until half as many pushes are open. So it sleeps and wakes less often.
      state.awaited = count / 2
      return true
    }
    if mustWait { signal.wait() }
  }

  /// Counts an answer, and wakes the calling thread if it waits for this. The thread of the event
  /// loop calls the method.
  private func finish(_ start: Double, _ answer: PushAnswer) {
    let now = monotonicSeconds()
    let wakes = state.withLock { state in
      state.underWay -= 1
      if answer.next == .done {
        state.delays.append(now - start)
      } else {
        state.failure = answer.reason
      }
      guard let awaited = state.awaited, state.underWay <= awaited else { return false }
      state.awaited = nil
      return true
    }
    if wakes { signal.signal() }
  }
}

/// A source of pushes with query notifications. One change of a record fires the subscriptions of a
/// hundred users.
struct PushSource {
  /// The number of subscriptions that a change fires.
  private static let firings = 100
  private static let database = DatabaseAddress(
    container: EarthquakeRequests.container, environment: .development, scope: .public, owner: nil)

  private var change: Change?
  private let issued = Timestamp.now

  /// Returns the push with a number. Each call must pass a greater number than the call before.
  mutating func push(_ number: Int) -> Push {
    let change =
      if let known = self.change, number % Self.firings > 0 { known } else { Self.change(number) }
    self.change = change
    let notification = SubscriptionNotification(
      database: Self.database, subscriber: SubscriptionFill.user(number),
      subscription: FanOutRecords.subscription("sub-\(number)", author: "star"), change: change)
    return Push(
      notification, payload: PushPayload(notification, badge: nil, reader: .apns),
      deviceToken: PushPeer.deviceToken(number), topic: "org.example", issued: issued)
  }

  private static func change(_ number: Int) -> Change {
    let record = Record(
      recordID: RecordID(recordName: UUID().uuidString, zoneID: .default),
      recordType: FanOutRecords.recordType,
      fields: ["author": .string("star"), "title": FanOutRecords.title])
    return Change(
      event: .recordCreated, zoneID: .default, record: record, notificationID: UUID(),
      timestamp: .now)
  }
}
