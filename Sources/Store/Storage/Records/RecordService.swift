import CloudKitModel
import Foundation
import StoreModel

/// Records: saving, fetching and queries.
struct RecordService: RecordReading, RecordWriting {
  let transactions: Transactions
  let searchEffort: SearchEffort

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
