import CloudKitModel
import StoreModel

/// The execution of one request (`RecordModification`) in the writer's transaction.
///
/// A failed operation leaves nothing written: it is checked before it writes, and a save that
/// exceeds the quota is rolled back. Operations are grouped by zone; within a zone they run in
/// their order.
///
/// In an atomic request, a failed operation in a custom zone undoes the other operations on that
/// zone. If a savepoint was set, the transaction is rolled back to it. Otherwise
/// ``SavepointNeeded`` is thrown.
struct RecordModifier {
  /// The request.
  let modification: RecordModification
  /// The prepared record of each operation; nil for an operation without one. The array is empty if
  /// nothing was prepared.
  let creations: [RecordCreation?]
  /// The zone that all operations name, if no two operations name the same record; nil if that was
  /// not checked before the transaction (``PreparedModification/onlyZone``).
  private let onlyZone: ZoneID?
  let transaction: StoreTransaction
  /// The address of the request's database.
  let address: DatabaseAddress
  /// The supply of numbers for versions and changes. The next modification of the database in the
  /// same transaction uses the numbers that are left.
  var numbers: NumberSupply
  /// The number of the latest change of this modification; 0 before the first.
  var latest: Int64 = 0
  /// The outcomes so far.
  private var outcomes: ModificationOutcomes

  /// The request's database.
  var database: DatabaseID { modification.database }

  /// Begins a modification, and reserves a number for each operation.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted, or was a short time
  ///   ago; ``StoreError/Code/notFound`` if there is no such database.
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

  /// Carries out the operations. A failed operation does not throw: its outcome has the failure.
  ///
  /// - Returns: an outcome for each operation, in the order of the request.
  /// - Throws: ``SavepointNeeded`` if an atomic request fails after changes that cannot be undone
  ///   alone, because no savepoint was set.
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
    /// The names of the operations' records, to find repeated names.
    var recordNames: Set<String> = []
    /// Whether an operation on the zone was refused, because an earlier operation names its record.
    var hasFailure = false
  }

  /// Groups the operations by zone, in the order in which the zones first occur. If two operations
  /// name one record, the later one is refused.
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

  /// Carries out the operations on one zone. If they changed something, the zone gets the number of
  /// the latest change as its version before the commit.
  ///
  /// - Throws: ``SavepointNeeded`` if an operation fails, the operations are atomic, and no
  ///   savepoint was set.
  private mutating func run(_ batch: Batch, zoneNumber: Int64) throws {
    // A failed operation has written nothing, so a single operation needs no savepoint.
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

  /// Carries out the zone's operations in order. An operation may need a record that a later
  /// operation creates. The method tries such an operation again after the later one.
  ///
  /// For example, a record may refer to a parent that a later operation of the request creates.
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
        } catch let missing as MissingTarget {
          // A second try of the operation replaces this outcome.
          outcomes.note(.failed(missing.failure), at: index)
          zone.hasFailure = true
          if isAhead(missing.recordName, in: zone) {
            zone.waiting[missing.recordName, default: []].append(index)
          }
        } catch let failure as ItemFailure {
          outcomes.note(.failed(try veiled(failure)), at: index)
          zone.hasFailure = true
        }
      }
    }
  }

  /// Returns whether an operation on this record is still to be tried, so that the record may yet
  /// be created. That is an operation later in the order, or one that waits for another record.
  private func isAhead(_ recordName: String, in zone: ZoneModification) -> Bool {
    let index = zone.indexes.first {
      modification.operations[$0].recordID.recordName == recordName
    }
    return index.map { $0 > zone.reached || zone.waits($0) } ?? false
  }

  /// Carries out one operation without a prepared record: it reads the stored record and the
  /// schema.
  ///
  /// - Returns: the outcome of an operation that succeeded.
  /// - Throws: ``ItemFailure`` or ``MissingTarget`` if the operation fails.
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

/// The operations of a request on one zone, and how far they have been carried out.
struct ZoneModification {
  /// The zone's ID in the database's own form (`DatabaseAddress.canonical`).
  let zoneID: ZoneID
  /// The zone's number in its database.
  let zoneNumber: Int64
  /// The indexes of the operations in the request, in order.
  let indexes: [Int]
  /// The index of the latest operation that was tried for the first time.
  var reached = 0
  /// Whether an attempt at an operation failed, even if a later attempt at the same operation
  /// succeeded.
  var hasFailure: Bool
  /// The indexes of the operations that wait until a record is created, by the name of that record.
  var waiting: [String: [Int]] = [:]

  /// Creates the state before the first operation.
  ///
  /// - Parameter hasFailure: whether an operation on the zone was refused, because an earlier
  ///   operation names its record.
  init(zoneID: ZoneID, zoneNumber: Int64, indexes: [Int], hasFailure: Bool) {
    self.zoneID = zoneID
    self.zoneNumber = zoneNumber
    self.indexes = indexes
    self.hasFailure = hasFailure
  }

  /// Returns whether the operation with this index waits for a record.
  func waits(_ index: Int) -> Bool {
    waiting.values.contains { $0.contains(index) }
  }
}

/// The error of an atomic request that fails in a transaction without savepoints. The writer rolls
/// the transaction back, and repeats it with savepoints.
struct SavepointNeeded: Error {}

/// The error of an operation that needs a record which does not exist.
struct MissingTarget: Error {
  /// The name of the missing record, in the zone of the operation.
  var recordName: String
  /// The failure that the operation gets if no other operation creates the record.
  var failure: ItemFailure
}
