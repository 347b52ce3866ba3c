import CloudKitModel
import Foundation
import StoreModel

extension SQLRecordStore {
  public func modifyRecords(
    _ modification: RecordModification
  ) async throws -> [RecordOutcome] {
    let prepared = PreparedModification(modification, by: writer.board)
    let outcomes = try await write(
      locking: .database(modification.database), gathersWrites: true
    ) { session in
      try RepeatableModification(prepared, session: session).run()
    }
    return outcomes.told(
      by: prepared.creations, in: modification.database, tags: changeTags)
  }

  public func records(
    _ recordIDs: [RecordID], in database: DatabaseID
  ) async throws -> [Record?] {
    try await read { session in
      let address = try DatabaseTable(session: session).address(of: database)
      var zoneNumbers: [ZoneID: Int64?] = [:]
      return try recordIDs.map { recordID in
        let zoneID = address.canonical(recordID.zoneID)
        let known =
          try zoneNumbers[zoneID] ?? ZoneTable(session: session).number(of: zoneID, in: database)
        zoneNumbers[zoneID] = .some(known)
        guard let zoneNumber = known else { return nil }
        return try RecordTable(session: session).record(
          named: recordID.recordName, inZone: zoneNumber, of: database)?.record
      }
    }
  }
}
