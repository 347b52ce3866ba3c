import CloudKitModel
import Foundation
import StoreModel

/// The service that saves, deletes, fetches and searches records.
///
/// A *modification* is a request to change records. The caller's task prepares it: it checks and
/// encodes new records as far as the cached schema allows. The writer's thread then writes it under
/// the lock of its database (``WriteLocks``).
struct RecordService: RecordReading, RecordWriting {
  let transactions: Transactions
  /// The costs of the steps of a search. A query chooses the cheapest way by these costs.
  let searchEffort: SearchEffort

  /// Carries out the operations of a request in one write, and returns an outcome for each.
  ///
  /// ``PreparedModification`` says what is done before the write. ``RepeatableModification``
  /// recognizes a repeated request by its ID.
  func modifyRecords(
    _ modification: RecordModification
  ) async throws -> [RecordOutcome] {
    if modification.namesOtherOwners, let outcomes = try await sharedOutcomes(of: modification) {
      return outcomes
    }
    let prepared = PreparedModification(modification, by: transactions.writer.schemas)
    let outcomes = try await transactions.write(
      locking: .database(modification.database), rows: modification.operations.count,
      needs: [
        ReadNeeds(database: modification.database, records: modification.namedRecords)
      ]
    ) { transaction in
      try RepeatableModification(prepared, transaction: transaction).run()
    }
    return outcomes.recordOutcomes(
      for: prepared.creations, in: modification.database, tags: transactions.context.changeTags)
  }

  /// Returns the records with these IDs in the order of the IDs. An element is nil if its record or
  /// zone does not exist.
  ///
  /// One read transaction reads all of them, so a write in between is either in all of them or in
  /// none.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database.
  func records(
    _ recordIDs: [RecordID], in database: DatabaseID
  ) async throws -> [Record?] {
    try await transactions.read { transaction in
      let address = try DatabaseTable(transaction: transaction).address(of: database)
      if let shared = try SharedDatabase.at(database, in: transaction) {
        return try shared.records(recordIDs)
      }
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

  /// Returns the rights of a caller for records of these types, by the names of the types. The
  /// grants and roles that the store has now decide.
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

extension RecordModification {
  /// The records that the operations change or refer to by a reference that needs its target.
  fileprivate var namedRecords: [RecordID] {
    var records: [RecordID] = []
    for operation in operations {
      let zoneID = operation.recordID.zoneID
      records.append(operation.recordID)
      if case .some(.some(let parent)) = operation.parent {
        records.append(RecordID(recordName: parent.recordName, zoneID: zoneID))
      }
      for value in operation.fields.values {
        for reference in value?.references ?? [] where reference.action == .validate {
          records.append(RecordID(recordName: reference.recordName, zoneID: zoneID))
        }
      }
    }
    return records
  }
}
