import CloudKitModel

/// Carries out one ``RecordModification`` in the writer's transaction.
///
/// Each operation is checked in full before anything of it is written, so that one that fails has
/// written nothing.
struct RecordModifier {
  let modification: RecordModification
  let session: StoreSession
  let address: DatabaseAddress
  var numbers: NumberSupply
  /// The number of the latest change, 0 before the first.
  var latest: Int64 = 0

  var database: DatabaseID { modification.database }

  init(_ modification: RecordModification, session: StoreSession) throws {
    self.modification = modification
    self.session = session
    address = try session.address(of: modification.database)
    numbers = try session.numbers(
      of: modification.database, count: modification.operations.count)
  }

  /// Carries out the operations; one outcome for each, in their order.
  mutating func run() throws -> [RecordOutcome] {
    var outcomes = [RecordOutcome?](repeating: nil, count: modification.operations.count)
    for batch in batches(refusingInto: &outcomes) {
      let failure = "there is no zone '\(batch.zoneID)'; create it first"
      guard let zoneNumber = try session.sharedZoneNumber(of: batch.zoneID, in: database) else {
        for index in batch.indexes { outcomes[index] = .failed(.init(.zoneNotFound, failure)) }
        continue
      }
      try run(batch, zoneNumber: zoneNumber, outcomes: &outcomes)
    }
    session.gathered.numbers[database] = numbers
    return outcomes.map { $0 ?? .failed(ItemFailure(.atomic, "the operation was not reached")) }
  }

  /// The operations on one zone.
  private struct Batch {
    var zoneID: ZoneID
    /// Where the operations stand in the request.
    var indexes: [Int]
    /// Whether one of the zone's operations was refused already.
    var hasFailure = false
  }

  /// The operations by zone, in order; those that name a record again are refused.
  private func batches(refusingInto outcomes: inout [RecordOutcome?]) -> [Batch] {
    var batches: [Batch] = []
    var places: [ZoneID: Int] = [:]
    var seen: Set<RecordID> = []
    for (index, operation) in modification.operations.enumerated() {
      var recordID = operation.recordID
      recordID.zoneID = session.canonical(recordID.zoneID, in: address)
      let place = places[recordID.zoneID] ?? batches.count
      if place == batches.count {
        places[recordID.zoneID] = place
        batches.append(Batch(zoneID: recordID.zoneID, indexes: []))
      }
      if seen.insert(recordID).inserted {
        batches[place].indexes.append(index)
      } else {
        let reason = "record '\(recordID)' appears twice in the request; name it once"
        outcomes[index] = .failed(ItemFailure(.invalid, field: "recordName", reason))
        batches[place].hasFailure = true
      }
    }
    return batches
  }

  private mutating func run(
    _ batch: Batch, zoneNumber: Int64, outcomes: inout [RecordOutcome?]
  ) throws {
    // An operation that fails has written nothing: one that stands alone needs no savepoint.
    let isAtomic =
      modification.isAtomic && !batch.zoneID.isDefaultZone
      && (batch.indexes.count > 1 || batch.hasFailure)
    let latestBefore = latest
    let mark = WriteMark(self)
    if isAtomic { try session.connection.run("SAVEPOINT zone", []) }
    var zone = ZoneModification(
      modification: modification, zoneID: batch.zoneID, zoneNumber: zoneNumber,
      indexes: batch.indexes)
    try perform(&zone)
    for (index, outcome) in zone.outcomes { outcomes[index] = outcome }
    let hasFailure = batch.hasFailure || zone.outcomes.values.contains { $0.isFailure }
    if isAtomic {
      if hasFailure {
        try session.connection.run("ROLLBACK TO zone", [])
        mark.restore(&self)
        for index in batch.indexes where outcomes[index]?.isFailure == false {
          let recordID = modification.operations[index].recordID
          outcomes[index] = .failed(
            ItemFailure(
              .atomic,
              "record '\(recordID)' was left as it was, for another item of the atomic "
                + "request failed"))
        }
      }
      try session.connection.run("RELEASE zone", [])
    }
    if let token = modification.clientChangeToken,
      batch.indexes.contains(where: { outcomes[$0]?.isFailure == false })
    {
      try session.keep(
        token, of: modification.origin.userRecordName, zone: zoneNumber, in: database,
        at: modification.timestamp)
    }
    guard latest > latestBefore else { return }
    session.gathered.zoneVersions[Catalog.ZoneKey(database: database, number: zoneNumber)] = latest
  }

  /// Performs the zone's operations in order. One that needs a record which a later operation may
  /// make waits for that one.
  private mutating func perform(_ zone: inout ZoneModification) throws {
    for index in zone.indexes {
      var next = [index]
      while let index = next.popLast() {
        let operation = modification.operations[index]
        do {
          zone.outcomes[index] = try perform(operation, at: index, in: zone)
          if let dependants = zone.waiting.removeValue(forKey: operation.recordID.recordName) {
            next += dependants.reversed()
          }
        } catch let missing as MissingTarget {
          // Kept unless the operation's turn comes again.
          zone.outcomes[index] = .failed(missing.failure)
          if zone.isAhead(missing.recordName) {
            zone.waiting[missing.recordName, default: []].append(index)
          }
        } catch let failure as ItemFailure {
          zone.outcomes[index] = .failed(try veiled(failure))
        }
      }
    }
  }

  private mutating func perform(
    _ operation: RecordOperation, at index: Int, in zone: ZoneModification
  ) throws -> RecordOutcome {
    if !modification.creations.isEmpty, let creation = modification.creations[index],
      let record = try make(creation, for: operation, in: zone)
    {
      return .saved(record)
    }
    var operation = operation
    operation.recordID.zoneID = zone.zoneID
    let current = try session.storedRecord(
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
  let zoneID: ZoneID
  let zoneNumber: Int64
  /// The operations' places in the request.
  let indexes: [Int]
  var outcomes: [Int: RecordOutcome] = [:]
  /// The operations that wait for a record to be made, by its name.
  var waiting: [String: [Int]] = [:]
  private let places: [String: Int]

  init(modification: RecordModification, zoneID: ZoneID, zoneNumber: Int64, indexes: [Int]) {
    self.zoneID = zoneID
    self.zoneNumber = zoneNumber
    self.indexes = indexes
    outcomes.reserveCapacity(indexes.count)
    places =
      indexes.count < 2
      ? [:]
      : Dictionary(
        indexes.map { (modification.operations[$0].recordID.recordName, $0) },
        uniquingKeysWith: { first, _ in first })
  }

  /// Whether an operation that was not reached yet may make this record.
  func isAhead(_ recordName: String) -> Bool {
    places[recordName].map { outcomes[$0] == nil || waits($0) } ?? false
  }

  private func waits(_ index: Int) -> Bool {
    waiting.values.contains { $0.contains(index) }
  }
}

/// That a record needs another which does not exist.
struct MissingTarget: Error {
  var recordName: String
  var failure: ItemFailure
}

extension RecordOutcome {
  var isFailure: Bool {
    if case .failed = self { return true }
    return false
  }
}
