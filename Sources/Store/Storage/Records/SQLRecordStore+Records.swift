import CloudKitModel
import Foundation
import StoreModel

extension SQLRecordStore: RecordWriting {
  public func modifyRecords(
    _ modification: RecordModification
  ) async throws -> [RecordOutcome] {
    let prepared = PreparedModification(modification, by: writer.board)
    let outcomes = try await write(
      locking: .database(modification.database), gathersWrites: true
    ) { transaction in
      try RepeatableModification(prepared, transaction: transaction).run()
    }
    return outcomes.told(
      by: prepared.creations, in: modification.database, tags: changeTags)
  }

  public func records(
    _ recordIDs: [RecordID], in database: DatabaseID
  ) async throws -> [Record?] {
    try await read { transaction in
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
}
