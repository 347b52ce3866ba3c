import CommandInterface
import Foundation
import Synchronization

/// The readers of many event streams. The object measures the time from the sending of a record to
/// its notification. The record names must contain the time of sending (``LoadRequest``).
final class EventStreamReaders: Sendable {
  private let delays: SharedDelays
  private let streams: EventStreams

  /// The delays that the thread of the streams adds.
  private final class SharedDelays: Sendable {
    let values = Mutex<[Double]>([])
  }

  /// Opens the streams. When the initializer returns, the server has answered on each of them.
  init(port: Int, paths: [String]) throws {
    let delays = SharedDelays()
    self.delays = delays
    streams = try EventStreams(port: port, paths: paths) { _, received in
      let new = Self.delays(in: &received)
      delays.values.withLock { $0 += new }
    }
  }

  func start() { streams.start() }

  /// Asks the thread to end, which happens within about 100 ms. The method does not wait.
  func stop() { streams.stop() }

  /// Returns the delays of the notifications since the last call: the seconds from the sending of
  /// each record to the arrival of its notification.
  ///
  /// - Throws: `UsageError` if the server has closed a stream.
  func takeDelays() throws -> [Double] {
    try streams.check()
    return delays.values.withLock { values in
      defer { values = [] }
      return values
    }
  }

  /// The number of notifications since the last call of ``takeDelays()``.
  var count: Int { delays.values.withLock { $0.count } }

  /// The JSON text before the record name of a notification.
  private static let mark = Array(#""rid":""#.utf8)

  /// Returns the delays of the notifications whose record names are complete, and removes the bytes
  /// up to the last of these names.
  private static func delays(in received: inout [UInt8]) -> [Double] {
    let now = monotonicSeconds()
    var delays: [Double] = []
    var end = 0
    while let place = received.firstPlace(of: mark, from: end) {
      let start = place + mark.count
      guard received.count >= start + LoadRequest.nameLength else { break }
      end = start + LoadRequest.nameLength
      if let sent = LoadRequest.sendingTime(inName: received[start..<end]) {
        delays.append(now - sent)
      }
    }
    received.removeFirst(end)
    return delays
  }
}
