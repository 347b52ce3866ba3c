import CloudKitModel
import StoreModel

/// The execution of one request (`RecordModification`) in the writer's transaction.
///
/// A failed operation leaves nothing decided: it is checked before, and a save that exceeds the
/// quota is dropped. Operations are grouped by zone; within a zone they run in their order. In an
/// atomic request, a failed operation in a custom zone drops the other operations on that zone
/// (``StoreTransaction/restore(_:)``).
struct RecordModifier {
  let modification: RecordModification
  let creations: [RecordCreation?]
  private let onlyZone: ZoneID?
  var writer: RecordWriter
  private var deletedNames: [String] = []
  var shared: SharedZone?
  /// The parents of the records that the request has saved in the zone in progress. Empty in
  /// databases without hierarchies.
  var parents: [String: String] = [:]
  private var outcomes: ModificationOutcomes

  var transaction: StoreTransaction { writer.transaction }
  var database: DatabaseID { writer.database }
  var address: DatabaseAddress { writer.address }
  var hierarchy: HierarchyCheck { HierarchyCheck(database: database, transaction: transaction) }

  init(_ prepared: PreparedModification, transaction: StoreTransaction) throws {
    modification = prepared.request
    creations = prepared.creations
    onlyZone = prepared.onlyZone
    writer = try RecordWriter(
      to: modification.database, by: modification.origin, at: modification.timestamp,
      transaction: transaction)
    outcomes = ModificationOutcomes(count: modification.operations.count)
  }

  /// A failed operation does not throw: its outcome has the failure.
  ///
  /// - Throws: ``SavepointNeeded`` if an atomic request fails after statements that have written.
  mutating func run() throws -> ModificationOutcomes {
    for batch in batches() {
      // A shared database has no zone of its own.
      let zoneNumber =
        address.scope == .shared
        ? nil : try ZoneTable(transaction: transaction).number(of: batch.zoneID, in: database)
      shared = nil
      if isByParticipant, let zoneNumber {
        shared = try sharedZone(batch.zoneID, number: zoneNumber)
      }
      guard let zoneNumber, !isByParticipant || shared != nil else {
        let failure = try missing(batch.zoneID)
        for index in batch.indexes { outcomes.note(.failed(failure), at: index) }
        continue
      }
      try run(batch, zoneNumber: zoneNumber)
    }
    return outcomes
  }

  /// The operations on one zone.
  private struct Batch {
    var zoneID: ZoneID
    var indexes: [Int] = []
    var recordNames: Set<String> = []
    var hasFailure = false
  }

  /// The order is that in which the zones first occur. If two operations name one record, the later
  /// one is refused.
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

  /// If the operations changed something, the zone gets the number of the latest change as its
  /// version.
  ///
  /// - Throws: as ``run()``.
  private mutating func run(_ batch: Batch, zoneNumber: Int64) throws {
    // A failed operation has decided nothing, so a single operation needs no mark.
    let isAtomic =
      modification.isAtomic && !batch.zoneID.isDefaultZone
      && (batch.indexes.count > 1 || batch.hasFailure)
    let before = writer.latest
    let mark = isAtomic ? try writer.mark("zone") : nil
    var zone = ZoneModification(
      zoneID: batch.zoneID, zoneNumber: zoneNumber, indexes: batch.indexes,
      hasFailure: batch.hasFailure)
    try perform(&zone)
    if let mark, zone.hasFailure, batch.hasFailure || batch.indexes.contains(where: failed) {
      try writer.restore(mark)
      for index in batch.indexes where !failed(index) {
        let recordID = modification.operations[index].recordID
        let failure = ItemFailure(
          .atomic,
          "record '\(recordID)' was not changed, because another item of the atomic request failed")
        outcomes.note(.failed(failure), at: index)
      }
    } else if let mark {
      try writer.release(mark)
    }
    try raiseParents(of: batch, inZone: zoneNumber)
    if let token = modification.clientChangeToken, !batch.indexes.allSatisfy(failed) {
      try ClientChangeTokenTable(transaction: transaction).keep(
        token, of: modification.origin.userRecordName, zone: zoneNumber, in: database,
        at: modification.timestamp)
    }
    if writer.latest > before { writer.noteChange(inZone: zoneNumber) }
  }

  /// Parents of saved records get new change tags, unless the request itself saved them. The method
  /// runs after all operations, so that a request can save a child before its parent, with the
  /// change tag that the parent had before the request.
  private mutating func raiseParents(of batch: Batch, inZone zoneNumber: Int64) throws {
    guard !parents.isEmpty else { return }
    let names = batch.indexes.filter { !failed($0) }
      .map { modification.operations[$0].recordID.recordName }
    for name in Set(names.compactMap { parents[$0] }).subtracting(names).sorted() {
      try writer.raiseParent(name, inZone: zoneNumber)
    }
    parents = [:]
  }

  private func failed(_ index: Int) -> Bool { outcomes.isFailure(at: index) }

  /// Carries out the zone's operations in order. A later operation may make an earlier one
  /// possible, which is then tried again. For example, a record may refer to a parent that a later
  /// operation creates, and a parent may be deleted before its children.
  private mutating func perform(_ zone: inout ZoneModification) throws {
    try zone.findPairs(in: modification, transaction)
    for index in zone.indexes {
      var next = [index]
      while let index = next.popLast() {
        // The operation to which a failure belongs.
        var current = index
        deletedNames.removeAll(keepingCapacity: true)
        do {
          if let pair = zone.pairs[index] {
            guard index == pair.first else { continue }
            try perform(pair, current: &current, in: zone)
          } else if let version = try make(at: index, in: zone) {
            outcomes.noteMade(version: version, at: index)
          } else {
            outcomes.note(try perform(at: index, in: zone), at: index)
          }
          guard !zone.waiting.isEmpty else { continue }
          let made = zone.pairs[index].map { [$0.root, $0.share] } ?? [index]
          let names = made.map { modification.operations[$0].recordID.recordName } + deletedNames
          next += zone.takeWaiting(for: names).reversed()
        } catch let blocked as BlockedOperation {
          // A second try of the operation replaces this outcome.
          outcomes.note(.failed(try veiled(blocked.failure)), at: current)
          zone.hasFailure = true
          zone.waiting[index] = Set(blocked.recordNames)
        } catch let failure as ItemFailure {
          outcomes.note(.failed(try veiled(failure)), at: current)
          zone.hasFailure = true
        }
      }
    }
    spreadQuotaFailures(in: zone)
  }

  /// If the save of a record fails because the database is full, the operations that wait for the
  /// record fail in the same way. An app that finds the record missing might delete its own copy of
  /// both.
  private mutating func spreadQuotaFailures(in zone: ZoneModification) {
    var full = Set(
      zone.indexes.filter { outcomes.failure(at: $0)?.code == .quotaExceeded }
        .map { modification.operations[$0].recordID.recordName })
    var waiting = zone.waiting.filter { outcomes.failure(at: $0.key)?.code == .referenceMissing }
    while let (index, names) = waiting.first(where: { !$0.value.isDisjoint(with: full) }) {
      waiting[index] = nil
      let recordID = modification.operations[index].recordID
      let failure = ItemFailure(
        .quotaExceeded,
        "record '\(recordID)' was not saved, because record "
          + "'\(names.intersection(full).sorted()[0])', which it names, exceeds the quota")
      outcomes.note(.failed(failure), at: index)
      full.insert(recordID.recordName)
    }
  }

  /// The two succeed or fail together. `current` becomes the index of the operation under way.
  private mutating func perform(
    _ pair: ZoneModification.Pair, current: inout Int, in zone: ZoneModification
  ) throws {
    do {
      let (root, share) = try together { modifier in
        current = pair.root
        let root = try modifier.perform(at: pair.root, in: zone)
        current = pair.share
        return (root, try modifier.perform(at: pair.share, in: zone))
      }
      outcomes.note(root, at: pair.root)
      outcomes.note(share, at: pair.share)
    } catch {
      let other = current == pair.root ? pair.share : pair.root
      let recordID = modification.operations[other].recordID
      let failure = ItemFailure(
        .atomic,
        "record '\(recordID)' was not changed, because a share and its root record are saved "
          + "together, and the other one failed")
      outcomes.note(.failed(failure), at: other)
      throw error
    }
  }

  /// If `body` throws, drops what it decided, or throws ``SavepointNeeded`` if statements have
  /// written.
  mutating func together<Value>(
    _ body: (inout RecordModifier) throws -> Value
  ) throws -> Value {
    let mark = try writer.mark("operation")
    do {
      let value = try body(&self)
      try writer.release(mark)
      return value
    } catch {
      // Some errors end the transaction, with its savepoints.
      guard transaction.connection.isInTransaction else { throw error }
      try writer.restore(mark)
      throw error
    }
  }

  /// Returns nil, and the operation takes the full path, in four cases: no record was prepared, the
  /// schema has changed since, the database is near its quota, or the zone has a record of this
  /// name.
  private mutating func make(at index: Int, in zone: ZoneModification) throws -> Int64? {
    guard !creations.isEmpty, let creation = creations[index],
      creation.type.catalogVersion == transaction.catalog.version
    else { return nil }
    try checkAccess(of: modification.operations[index], to: nil)
    guard try !isNearQuota() else { return nil }
    return try writer.insert(creation, inZone: zone.zoneNumber)
  }

  private mutating func perform(
    at index: Int, in zone: ZoneModification
  ) throws -> RecordOutcome {
    var operation = modification.operations[index]
    operation.recordID.zoneID = zone.zoneID
    let current = try RecordTable(transaction: transaction).record(
      named: operation.recordID.recordName, inZone: zone.zoneNumber, of: database)
    if isByParticipant {
      // The user may have left by an earlier operation.
      guard let shared else { throw try missing(zone.zoneID) }
      return try perform(operation, on: current, asParticipantOf: shared, in: zone)
    }
    try checkAccess(of: operation, to: current?.record)
    switch try operation.decision(on: current?.record, in: modification) {
    case .nothing:
      return .deleted(operation.recordID)
    case .delete:
      if let current { try delete(current) }
      return .deleted(operation.recordID)
    case .save(var record):
      if let share = zone.sharedRoots[record.recordID.recordName] {
        record.share = Reference(recordName: share)
      }
      var saved = try save(
        record, named: operation.fields.keys, over: current, in: zone)
      if operation.createsShortGUID {
        saved.shortGUID = try writer.shortGUID(of: saved, inZone: zone.zoneNumber)
      }
      return .saved(saved)
    }
  }

  /// Deletes a record that the requester may delete, and those that go with it within the
  /// requester's ``DeletionRights``.
  ///
  /// - Throws: ``BlockedOperation`` if a record would be left that has a deleted one as its parent.
  mutating func delete(_ stored: StoredRecord) throws {
    let rights = DeletionRights(
      caller: modification.caller, address: address, shared: shared, transaction: transaction)
    if address.scope == .private { try hierarchy.checkChildren(of: stored, within: rights) }
    let deletion = try writer.delete(stored, with: rights.mayDelete(_:))
    deletedNames += deletion.names
    for root in deletion.unsharedRoots { noteChange(of: root) }
  }

  private mutating func noteChange(of record: Record) {
    let index = modification.operations.firstIndex {
      $0.recordID.recordName == record.recordID.recordName
        && address.canonical($0.recordID.zoneID) == record.recordID.zoneID
    }
    guard let index, !outcomes.isFailure(at: index) else { return }
    outcomes.note(.saved(record), at: index)
  }
}
