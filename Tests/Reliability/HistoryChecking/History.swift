/// The operations and observations of a server's clients, with the times of one clock.
///
/// It is recorded outside of the server and does not depend on the server's design.
/// ``HistoryChecker`` decides whether the server may have behaved so.
public struct History: Codable, Sendable {
  public var writes: [RecordWrite] = []
  public var reads: [RecordRead] = []
  public var feeds: [FeedReading] = []
  public var subscriptions: [Subscribing] = []
  public var devices: [DeviceRegistration] = []
  public var logs: [LogReading] = []
  public var pushes: [PushReceipt] = []

  public init() {}

  public mutating func append(_ other: History) {
    writes += other.writes
    reads += other.reads
    feeds += other.feeds
    subscriptions += other.subscriptions
    devices += other.devices
    logs += other.logs
    pushes += other.pushes
  }

  /// The writes that leave a mark, by it.
  var writesByMark: [String: RecordWrite] {
    Dictionary(
      writes.compactMap { write in write.mark.map { ($0, write) } },
      uniquingKeysWith: { one, _ in one })
  }

  /// How many things it holds.
  public var count: Int {
    writes.count + reads.count + feeds.count + subscriptions.count + devices.count + logs.count
      + pushes.count
  }
}
