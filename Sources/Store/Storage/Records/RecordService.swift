import CloudKitModel
import Foundation
import StoreModel

/// The records of databases: saves, deletions, fetches and searches.
///
/// The caller's task prepares a *modification*, a request to change records: it checks and encodes
/// new records as far as the cached schema allows. The writer's thread then writes it under the
/// lock of its database (``WriteLocks``).
public struct RecordService: Sendable {
  let transactions: Transactions
  let searchEffort: SearchEffort

  /// Carries out the operations in one transaction, and returns one outcome for each, in their
  /// order.
  ///
  /// - An operation in a zone that does not exist fails with ``ItemFailure/Code/zoneNotFound``. The
  ///   default zone always exists.
  /// - The first saved value of a field determines the field's type. A value of another type is
  ///   refused, except an integer in a field of doubles, which becomes a double.
  /// - If ``RecordModification/isAtomic`` is true, a failed operation in a custom zone undoes the
  ///   others in the zone. These fail with ``ItemFailure/Code/atomic``.
  /// - The deletion of a record also deletes the records that refer to it by a `deleteSelf`
  ///   reference, and so on. It deletes no record that the caller could not delete directly.
  /// - If two operations name the same record, the second one is refused.
  ///
  /// The transaction also adds the changes to the outbox. Right after the commit, the handler of
  /// ``OutboxStore/setCommitHandler(_:)`` gets them.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted or was deleted
  ///   recently; ``StoreError/Code/notFound`` if there is no such database.
  public func modifyRecords(
    _ modification: RecordModification
  ) async throws -> [RecordOutcome] {
    if modification.namesOtherOwners, let outcomes = try await sharedOutcomes(of: modification) {
      return outcomes
    }
    let prepared = PreparedModification(modification, by: transactions.writer.schemas)
    let outcomes = try await transactions.write(
      locking: .database(modification.database), rows: modification.operations.count,
      needs: [
        ReadNeeds(
          database: modification.database, records: modification.namedRecords,
          request: AnsweredRequest(of: modification))
      ]
    ) { transaction in
      try RepeatableModification(prepared: prepared, transaction: transaction).run()
    }
    return outcomes.recordOutcomes(
      for: prepared.creations, in: modification.database, tags: transactions.context.changeTags)
  }

  /// Returns the records in the order of the IDs; nil for a record that does not exist. The caller
  /// must have checked rights.
  ///
  /// One transaction reads all of them, so a write is either in all of them or in none.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database.
  public func records(
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

  /// The rights of a caller for records of these types, by the present grants and roles.
  public func access(
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
