import CloudKitModel
import CommandInterface
import Foundation
import HTTP2Transport
import PushChannels
import Synchronization

/// The sender of the push benchmark: a thread that makes payloads and hands pushes over, and the event
/// loop that sends them.
final class PushLine: Sendable {
  /// Pushes that are handed over and not answered, at most: as many as the connections take, and as
  /// many again to follow.
  private let room: Int
  /// Pushes between two looks at the room.
  private static let batch = 100

  private struct State {
    var underWay = 0
    /// The maker waits until no more than so many are under way.
    var awaited: Int?
    var delays: [Double] = []
    var failure: String?
  }

  private let loop: EventLoop
  private let client: APNsClient
  private let state = Mutex(State())
  private let signal = DispatchSemaphore(value: 0)

  init(to peer: PushPeer, connections: Int) throws {
    room = 2 * PushPeer.streams * connections
    loop = try EventLoop(name: "petrel-apns")
    client = peer.client(on: loop, connections: connections)
  }

  func close() async {
    await client.close()
    loop.shutDown()
  }

  var connections: Int { client.metrics.connections }

  /// Sends so many pushes from this thread, and answers how long each took from the hand-over to the
  /// answer when all are there.
  ///
  /// - Throws: ``UsageError`` when the peer did not accept one of them.
  func send(_ pushes: Range<Int>) throws -> [Double] {
    state.withLock { $0.delays.reserveCapacity(pushes.count) }
    var source = PushSource()
    for number in pushes {
      if number % Self.batch == 0 { wait(untilUnderWay: room - Self.batch) }
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

  private func wait(untilUnderWay count: Int) {
    let mustWait = state.withLock { state in
      guard state.underWay > count else { return false }
      // Half of the room at once, so that the thread sleeps and wakes seldom.
      state.awaited = count / 2
      return true
    }
    if mustWait { signal.wait() }
  }

  private func finish(_ start: Double, _ result: APNsResult) {
    let now = monotonicSeconds()
    let wakes = state.withLock { state in
      state.underWay -= 1
      if case .answered(200, _, _, _, _) = result {
        state.delays.append(now - start)
      } else {
        state.failure = "\(result)"
      }
      guard let awaited = state.awaited, state.underWay <= awaited else { return false }
      state.awaited = nil
      return true
    }
    if wakes { signal.signal() }
  }
}

/// Makes pushes of query notifications: a change of a record fires the subscriptions of a hundred
/// users.
struct PushSource {
  private static let firings = 100
  private static let database = DatabaseAddress(
    container: EarthquakeRequests.container, environment: .development, scope: .public, owner: nil)

  private var change: Change?
  private let issued = Timestamp.now

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
