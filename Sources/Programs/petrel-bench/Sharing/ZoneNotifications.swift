import Foundation
import Synchronization

/// The notifications of zones that the readers of event streams have received. Any thread may call
/// the methods; a lock protects the state.
final class ZoneNotifications: Sendable {
  /// The notifications of one zone at one reader.
  struct Arrivals: Sendable {
    var count = 0
    /// The time of the latest one, in seconds of ``monotonicSeconds()``.
    var latest = 0.0
  }

  private let arrivals: Mutex<[[Arrivals]]>

  init(zones: Int, readers: Int) {
    arrivals = Mutex(
      Array(repeating: Array(repeating: Arrivals(), count: readers), count: zones))
  }

  /// The beginning of the zones' names. The number of the zone follows.
  static let zonePrefix = "shared-"

  private static let mark = Array(#""zid":""#.utf8)

  /// Adds the notifications in the bytes that a reader has received, and removes the bytes up to the
  /// last zone name.
  func receive(_ reader: Int, _ received: inout [UInt8]) {
    let now = monotonicSeconds()
    var end = 0
    while let place = received.firstPlace(of: Self.mark, from: end),
      let quote = received[(place + Self.mark.count)...].firstIndex(of: UInt8(ascii: "\""))
    {
      end = quote
      let name = String(decoding: received[(place + Self.mark.count)..<quote], as: UTF8.self)
      guard name.hasPrefix(Self.zonePrefix), let zone = Int(name.dropFirst(Self.zonePrefix.count))
      else { continue }
      arrivals.withLock { arrivals in
        guard arrivals.indices.contains(zone) else { return }
        arrivals[zone][reader].count += 1
        arrivals[zone][reader].latest = now
      }
    }
    received.removeFirst(end)
  }

  func arrivals(of zone: Int) -> [Arrivals] { arrivals.withLock { $0[zone] } }

  /// The number of notifications of all zones, by reader.
  var counts: [Int] {
    arrivals.withLock { arrivals in
      (arrivals.first ?? []).indices.map { reader in
        arrivals.reduce(0) { $0 + $1[reader].count }
      }
    }
  }
}
