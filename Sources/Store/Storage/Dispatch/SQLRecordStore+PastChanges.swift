import CloudKitModel
import Foundation
import StoreModel

// Changes stay in the outbox when they are dispatched, for explanations.
extension SQLRecordStore {
  public func pastChanges(
    of recordID: RecordID?, in database: DatabaseID, before sequence: Int64?, limit: Int
  ) async throws -> [PastChange] {
    try await read { session in
      guard let position = try session.dispatchPosition(of: database) else { return [] }
      // Before the first, but not below the least number.
      var end = position.wholeThrough
      if let sequence { end = min(end, max(sequence, .min + 1) - 1) }
      let pageSize = recordID == nil ? max(1, limit) : 500
      var found: [PastChange] = []
      while found.count < limit {
        let page = try session.pastChanges(
          of: recordID, in: database, through: end, limit: pageSize)
        found += page.changes
        guard let oldest = page.oldest else { break }
        end = oldest - 1
      }
      return Array(found.prefix(limit))
    }
  }

  /// Drops changes that were dispatched before a moment. It looks through all that is known of
  /// dispatched changes, a page at a time and beside the writer.
  func trimChangeHistory(before horizon: Timestamp) async throws {
    let pageSize: Int64 = 5_000
    var last = DispatchKey(database: .min, through: .min)
    while true {
      let page = try await read { [last] session in
        try session.dispatches(behind: last, limit: pageSize)
      }
      let old = page.filter { $0.dispatched < horizon.milliseconds && $0.isWhole }
      var begin = 0
      while begin < old.count {
        // As many as have about as many changes as one write may drop.
        let end =
          old[begin...].firstIndex {
            $0.key.database == old[begin].key.database
              && $0.changes - old[begin].changes > Retention.batch
          } ?? min(old.count, begin + Int(Retention.batch))
        let group = old[begin..<min(end, begin + Int(Retention.batch))]
        try await inEachDatabase(of: Array(group)) { session, dispatches in
          for dispatch in dispatches { try session.drop(dispatch.key) }
        }
        begin = group.endIndex
      }
      guard page.count == Int(pageSize), let end = page.last else { return }
      last = end.key
    }
  }
}

/// Which row tells of a transaction that dispatched changes.
private struct DispatchKey: Sendable {
  var database: Int64
  var through: Int64
}

private struct Dispatch: InDatabase {
  var key: DispatchKey
  var changes: Int64
  var dispatched: Int64
  var isWhole: Bool

  var database: DatabaseID { DatabaseID(rawValue: key.database) }
}

extension StoreSession {
  /// Looks at so many changes, and answers those of them that are of the record, newest first.
  fileprivate func pastChanges(
    of recordID: RecordID?, in database: DatabaseID, through sequence: Int64, limit: Int
  ) throws -> (changes: [PastChange], oldest: Int64?) {
    let name = recordID.map { Array($0.recordName.utf8) }
    var changes: [PastChange] = []
    var (oldest, count) = (Int64.max, 0)
    try connection.query(
      """
      SELECT sequence, subscription_version, content, lacks_fields, (
          SELECT dispatched FROM dispatches
          WHERE dispatches.database_id = outbox.database_id AND through >= outbox.sequence
          ORDER BY through LIMIT 1)
      FROM outbox WHERE database_id = $1 AND sequence <= $2 ORDER BY sequence DESC LIMIT $3
      """,
      [.integer(database.rawValue), .integer(sequence), .integer(Int64(limit))]
    ) { row in
      count += 1
      oldest = row.integer(0)
      let content = row.bytes(2)
      // Most changes are of other records, which is seen without reading them.
      if let name, !content.contains(run: name) { return }
      var decoder = try RowDecoder(
        content, of: "past change \(oldest) of database \(database.rawValue)")
      let change = try decoder.decodeChange()
      try decoder.finish()
      guard recordID == nil || change.record?.recordID == recordID else { return }
      changes.append(
        PastChange(
          database: database, sequence: oldest, subscriptionVersion: row.integer(1),
          dispatched: Timestamp(milliseconds: row.optionalInteger(4) ?? 0), change: change,
          hasFields: row.optionalInteger(3) != 1))
    }
    return (changes, count == limit ? oldest : nil)
  }

  fileprivate func dispatches(behind key: DispatchKey, limit: Int64) throws -> [Dispatch] {
    try connection.rows(
      """
      SELECT database_id, through, changes, dispatched, settled_subscriber FROM dispatches
      WHERE (database_id, through) > ($1, $2) ORDER BY database_id, through LIMIT $3
      """, [.integer(key.database), .integer(key.through), .integer(limit)]
    ) {
      Dispatch(
        key: DispatchKey(database: $0.integer(0), through: $0.integer(1)),
        changes: $0.integer(2), dispatched: $0.integer(3), isWhole: $0.isNull(4))
    }
  }

  fileprivate func drop(_ dispatch: DispatchKey) throws {
    try dropChanges(of: DatabaseID(rawValue: dispatch.database), through: dispatch.through)
    try connection.run(
      "DELETE FROM dispatches WHERE database_id = $1 AND through = $2",
      [.integer(dispatch.database), .integer(dispatch.through)])
  }
}

extension [UInt8] {
  /// Whether these bytes have those in a row.
  fileprivate func contains(run other: [UInt8]) -> Bool {
    guard let first = other.first else { return true }
    return withUnsafeBytes { bytes in
      var rest = bytes[...]
      while rest.count >= other.count, let begin = rest.firstIndex(of: first) {
        if bytes[begin...].starts(with: other) { return true }
        rest = rest[(begin + 1)...]
      }
      return false
    }
  }
}
