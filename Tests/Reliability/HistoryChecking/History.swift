/// What the clients of a server did and saw, by one clock.
///
/// It is recorded outside of the server and knows nothing of how that works. Whether the server may have
/// behaved so is decided by ``HistoryChecker``.
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
