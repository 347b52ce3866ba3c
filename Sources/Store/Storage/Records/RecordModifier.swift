import CloudKitModel
import StoreModel

/// One ``RecordModification`` in the writer's transaction: it carries out the operations of a
/// request.
///
/// Each operation is checked in full before it writes, so that a failed operation has written
/// nothing. Operations are grouped by zone; within a zone they run in their order. In an atomic
/// request, a failure in a custom zone undoes the zone's other operations by a savepoint, or by
/// ``SavepointNeeded``.
struct RecordModifier {
  /// The request.
  let modification: RecordModification
  /// The prepared records of the operations; empty if there are none.
  let creations: [RecordCreation?]
  /// The zone of all operations, if preparing found that each names another record there.
  private let onlyZone: ZoneID?
  let transaction: StoreTransaction
  /// The address of the request's database.
  let address: DatabaseAddress
  /// The numbers for versions and changes. What is left goes to the next modification of the
  /// transaction.
  var numbers: NumberSupply
  /// The number of the latest change; 0 before the first.
  var latest: Int64 = 0
  /// The outcomes so far.
  private var outcomes: ModificationOutcomes

  /// The request's database.
  var database: DatabaseID { modification.database }

  /// Begins a modification, and draws a number for each operation.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted;
  ///   ``StoreError/Code/notFound`` if there is no such database.
  init(_ prepared: PreparedModification, transaction: StoreTransaction) throws {
    let modification = prepared.request
    try UserDeletionTable(transaction: transaction).refuseDeleted(
      modification.origin.userRecordName)
    self.modification = modification
    creations = prepared.creations
    onlyZone = prepared.onlyZone
    self.transaction = transaction
    address = try DatabaseTable(transaction: transaction).address(of: modification.database)
    numbers = try transaction.numbers(
      of: modification.database, count: modification.operations.count)
    outcomes = ModificationOutcomes(count: modification.operations.count)
  }

  /// Carries out the operations. Failures of single operations are in the outcomes.
  ///
  /// - Returns: an outcome for each operation.
  /// - Throws: ``SavepointNeeded`` if changes must be undone for which no savepoint was set.
  mutating func run() throws -> ModificationOutcomes {
    for batch in batches() {
      let failure = "there is no zone '\(batch.zoneID)'; create it first"
      guard let zoneNumber = try transaction.sharedZoneNumber(of: batch.zoneID, in: database) else {
        for index in batch.indexes {
          outcomes.note(.failed(.init(.zoneNotFound, failure)), at: index)
        }
        continue
      }
      try run(batch, zoneNumber: zoneNumber)
    }
    transaction.gathered.numbers[database] = numbers
    return outcomes
  }

  /// The operations on one zone.
  private struct Batch {
    var zoneID: ZoneID
    /// The indexes of the operations in the request.
    var indexes: [Int] = []
    var recordNames: Set<String> = []
    /// Whether one of the zone's operations was already refused.
    var hasFailure = false
  }

  /// Groups the operations by zone, in order. An operation on a record that an earlier operation
  /// names is refused.
  private mutating func batches() -> [Batch] {
    if let zoneID = onlyZone {
      return [
        Batch(
          zoneID: address.canonical(zoneID),
          indexes: Array(modification.operations.indices))
      ]
    }
    var batches: [Batch] = []
    var places: [ZoneID: Int] = [:]
    // Almost always all operations are on one zone.
    var latest: (given: ZoneID, place: Int)?
    for index in modification.operations.indices {
      let recordID = modification.operations[index].recordID
      if latest?.given != recordID.zoneID {
        let zoneID = address.canonical(recordID.zoneID)
        let place = places[zoneID] ?? batches.count
        if place == batches.count {
          places[zoneID] = place
          batches.append(Batch(zoneID: zoneID))
        }
        latest = (recordID.zoneID, place)
      }
      guard let place = latest?.place else { continue }
      if batches[place].recordNames.insert(recordID.recordName).inserted {
        batches[place].indexes.append(index)
      } else {
        let name = RecordID(recordName: recordID.recordName, zoneID: batches[place].zoneID)
        let reason = "record '\(name)' appears twice in the request; name it once"
        outcomes.note(.failed(ItemFailure(.invalid, field: "recordName", reason)), at: index)
        batches[place].hasFailure = true
      }
    }
    return batches
  }

  /// Carries out the operations on one zone, and raises the zone's version to the latest change.
  ///
  /// - Throws: ``SavepointNeeded`` if an atomic batch without a savepoint fails.
  private mutating func run(_ batch: Batch, zoneNumber: Int64) throws {
    // A failed operation has written nothing, so one alone needs no savepoint.
    let isAtomic =
      modification.isAtomic && !batch.zoneID.isDefaultZone
      && (batch.indexes.count > 1 || batch.hasFailure)
    let hasSavepoint = isAtomic && (!transaction.omitsSavepoints || batch.hasFailure)
    let latestBefore = latest
    let mark = WriteMark(self)
    if hasSavepoint { try transaction.connection.run("SAVEPOINT zone", []) }
    var zone = ZoneModification(
      zoneID: batch.zoneID, zoneNumber: zoneNumber, indexes: batch.indexes,
      hasFailure: batch.hasFailure)
    try perform(&zone)
    if isAtomic, zone.hasFailure, batch.hasFailure || batch.indexes.contains(where: failed) {
      guard hasSavepoint else { throw SavepointNeeded() }
      try transaction.connection.run("ROLLBACK TO zone", [])
      mark.restore(&self)
      for index in batch.indexes where !failed(index) {
        let recordID = modification.operations[index].recordID
        let failure = ItemFailure(
          .atomic,
          "record '\(recordID)' was not changed, because another item of the atomic request failed")
        outcomes.note(.failed(failure), at: index)
      }
    }
    if hasSavepoint { try transaction.connection.run("RELEASE zone", []) }
    if let token = modification.clientChangeToken, !batch.indexes.allSatisfy(failed) {
      try ClientChangeTokenTable(transaction: transaction).keep(
        token, of: modification.origin.userRecordName, zone: zoneNumber, in: database,
        at: modification.timestamp)
    }
    guard latest > latestBefore else { return }
    transaction.gathered.zoneVersions[Catalog.ZoneKey(database: database, number: zoneNumber)] =
      latest
  }

  /// Returns whether an operation has failed so far.
  private func failed(_ index: Int) -> Bool { outcomes.isFailure(at: index) }

  /// Carries out the zone's operations in order. An operation that a later one may make possible
  /// waits for that one.
  ///
  /// For example, a record may refer to a parent that a later operation of the request creates, and
  /// a parent may be deleted before its children.
  private mutating func perform(_ zone: inout ZoneModification) throws {
    for index in zone.indexes {
      zone.reached = index
      var next = [index]
      while let index = next.popLast() {
        do {
          if let version = try make(at: index, in: zone) {
            outcomes.noteMade(version: version, at: index)
          } else {
            outcomes.note(try perform(at: index, in: zone), at: index)
          }
          guard !zone.waiting.isEmpty else { continue }
          let name = modification.operations[index].recordID.recordName
          if let dependants = zone.waiting.removeValue(forKey: name) {
            next += dependants.reversed()
          }
        } catch let blocked as BlockedOperation {
          // This outcome stays unless the operation is tried again.
          outcomes.note(.failed(try veiled(blocked.failure)), at: index)
          zone.hasFailure = true
          if isAhead(blocked.recordName, in: zone) {
            zone.waiting[blocked.recordName, default: []].append(index)
          }
        } catch let failure as ItemFailure {
          outcomes.note(.failed(try veiled(failure)), at: index)
          zone.hasFailure = true
        }
      }
    }
  }

  /// Returns whether a later or waiting operation is on this record.
  private func isAhead(_ recordName: String, in zone: ZoneModification) -> Bool {
    let index = zone.indexes.first {
      modification.operations[$0].recordID.recordName == recordName
    }
    return index.map { $0 > zone.reached || zone.waits($0) } ?? false
  }

  /// Carries out one operation by the full path, which reads the stored record and the schema.
  ///
  /// - Returns: the outcome of an operation that succeeded.
  /// - Throws: ``ItemFailure`` or ``BlockedOperation`` for an operation that failed.
  private mutating func perform(
    at index: Int, in zone: ZoneModification
  ) throws -> RecordOutcome {
    var operation = modification.operations[index]
    operation.recordID.zoneID = zone.zoneID
    let current = try RecordTable(transaction: transaction).record(
      named: operation.recordID.recordName, inZone: zone.zoneNumber, of: database)
    try checkAccess(of: operation, to: current?.record)
    switch try operation.decision(on: current?.record, in: modification) {
    case .nothing:
      return .deleted(operation.recordID)
    case .delete:
      if let current { try delete(current) }
      return .deleted(operation.recordID)
    case .save(let record):
      return .saved(
        try saveWithinQuota(
          record, named: operation.fields.keys, over: current, in: zone))
    }
  }
}

/// The state of one zone's share of a request.
struct ZoneModification {
  /// The zone's name, as the database names it.
  let zoneID: ZoneID
  /// The zone's number in its database.
  let zoneNumber: Int64
  /// The indexes of the operations in the request, in order.
  let indexes: [Int]
  /// The last operation that was tried in order.
  var reached = 0
  /// Whether an operation failed, even if it has succeeded since.
  var hasFailure: Bool
  /// The operations that wait for another operation, by the name of that one's record.
  var waiting: [String: [Int]] = [:]

  /// Creates the state before the first operation.
  ///
  /// - Parameter hasFailure: whether one of the zone's operations was already refused.
  init(zoneID: ZoneID, zoneNumber: Int64, indexes: [Int], hasFailure: Bool) {
    self.zoneID = zoneID
    self.zoneNumber = zoneNumber
    self.indexes = indexes
    self.hasFailure = hasFailure
  }

  /// Returns whether an operation waits for a record.
  func waits(_ index: Int) -> Bool {
    waiting.values.contains { $0.contains(index) }
  }
}

/// An error of an atomic request whose changes must be undone, though no savepoint was set. The
/// writer repeats the transaction with savepoints.
struct SavepointNeeded: Error {}

/// An error of an operation that another operation of the request may make possible.
///
/// For example, the record's parent does not exist yet, or the record to delete is still the parent
/// of another one.
struct BlockedOperation: Error {
  /// The name of the record that another operation must create, delete or change. It is in the zone
  /// of the operation.
  var recordName: String
  /// The operation's failure, if no other operation does that.
  var failure: ItemFailure
}
