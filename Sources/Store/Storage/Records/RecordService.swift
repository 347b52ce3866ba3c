import CloudKitModel
import Foundation
import StoreModel

/// The service for records: saving, fetching and queries.
///
/// A modification is prepared on the caller's side of the queue, and written under the lock of its
/// database.
struct RecordService: RecordReading, RecordWriting {
  let transactions: Transactions
  /// The costs by which queries are planned.
  let searchEffort: SearchEffort

  /// Carries out the operations of a request in one write, and returns an outcome for each.
  ///
  /// Records to be created are checked and encoded before the write. A repeated request is
  /// recognized by its ID (``RepeatableModification``).
  func modifyRecords(
    _ modification: RecordModification
  ) async throws -> [RecordOutcome] {
    let prepared = PreparedModification(modification, by: transactions.writer.schemas)
    let outcomes = try await transactions.write(
      locking: .database(modification.database), gathersWrites: true
    ) { transaction in
      try RepeatableModification(prepared, transaction: transaction).run()
    }
    return outcomes.recordOutcomes(
      for: prepared.creations, in: modification.database, tags: transactions.context.changeTags)
  }

  /// Returns the records with these IDs in the order of the IDs; nil for a record or zone that does
  /// not exist. All records are from one snapshot.
  func records(
    _ recordIDs: [RecordID], in database: DatabaseID
  ) async throws -> [Record?] {
    try await transactions.read { transaction in
      let address = try DatabaseTable(transaction: transaction).address(of: database)
      var zoneNumbers: [ZoneID: Int64?] = [:]
      return try recordIDs.map { recordID in
        let zoneID = address.canonical(recordID.zoneID)
        let known =
          try zoneNumbers[zoneID]
          ?? ZoneTable(transaction: transaction).number(of: zoneID, in: database)
        zoneNumbers[zoneID] = .some(known)
        guard let zoneNumber = known else { return nil }
        return try RecordTable(transaction: transaction).record(
          named: recordID.recordName, inZone: zoneNumber, of: database)?.record
      }
    }
  }

  /// Returns the access of a caller to records of these types, by the current grants.
  func access(
    of caller: Caller, toTypes names: Set<String>, in database: DatabaseID
  ) async throws -> [String: RecordAccess] {
    try await transactions.read { transaction in
      let address = try DatabaseTable(transaction: transaction).address(of: database)
      return try Dictionary(
        uniqueKeysWithValues: names.map {
          (
            $0,
            try AccessPolicy.access(of: caller, toType: $0, at: address, in: transaction)
          )
        })
    }
  }
}
