import CloudKit
import CommandInterface
import Synchronization

/// The arrivals of the records of ``EarthquakeRecords``. Any thread may call the methods; a lock
/// protects the state.
final class RecordArrivals: Sendable {
  /// The time of each record's first arrival by the record's number, in seconds of
  /// ``monotonicSeconds()``; 0 for a record that has not arrived.
  private let times: Mutex<[Double]>

  init(count: Int) {
    times = Mutex(Array(repeating: 0, count: count))
  }

  func note(_ recordIDs: some Sequence<CKRecord.ID>) {
    let now = monotonicSeconds()
    times.withLock { times in
      for recordID in recordIDs {
        guard let number = EarthquakeRecords.number(of: recordID), times.indices.contains(number),
          times[number] == 0
        else { continue }
        times[number] = now
      }
    }
  }

  func time(of number: Int) -> Double? {
    let time = times.withLock { $0[number] }
    return time == 0 ? nil : time
  }

  /// Checks that all records have arrived.
  ///
  /// - Parameter what: The beginning of the error: what the records should have come from.
  func check(_ what: String) throws {
    let (count, all) = times.withLock { times in (times.count { $0 != 0 }, times.count) }
    guard count == all else { throw UsageError("\(what) has \(count) of \(all) records") }
  }

  /// Checks that all records are in a zone on the server.
  static func check(_ zoneID: CKRecordZone.ID, of database: CKDatabase, count: Int) async throws {
    let arrivals = RecordArrivals(count: count)
    try await PlainFeed.read(zoneID, of: database, desiredKeys: []) { arrivals.note($0) }
    try arrivals.check("the zone \(zoneID.zoneName)")
  }
}
