import SQLEngine
import StoreModel

// MARK: Divided databases

extension DispatchLeaseTable {
  func partition(of database: DatabaseID) throws -> Partition {
    guard let lease = try leases(of: database).first else { return Partition(parts: 1) }
    return Partition(parts: lease.part.count, nextParts: lease.repartition?.nextParts)
  }

  /// Divides a database into parts at once. The new parts have no holders, a pending wake-up, and
  /// begin after the last change that all former parts have dispatched. The caller has locked the
  /// database's row.
  func divide(_ database: DatabaseID, into parts: Int) throws {
    let id = SQLValue.id(database)
    let position =
      try DispatchTable(transaction: transaction).position(of: database)
      ?? DispatchPosition(through: .min, changes: 0)
    let dispatches = PartDispatchTable(transaction: transaction)
    try connection.run(sql.partition.clear, [id])
    try dispatches.remove(of: database)
    for number in 0..<parts {
      // The wake-up makes the next holder read the outbox: commits may have added changes that the
      // former parts do not dispatch.
      try connection.run(sql.partition.add, [id, .count(number), .count(parts)])
      if parts == 1 { return }
      try dispatches.add(position, ofPart: number, of: database)
    }
  }

  /// Divides a database as soon as its present changes are dispatched, or at once if there are
  /// none. The caller has locked the database's row.
  ///
  /// The rows of the leases get the last present change and the new number of parts. The
  /// transaction that completes the dispatch of that change then divides the database
  /// (``DispatchProgress``). A second call before that replaces only the number of parts.
  func divideLater(_ database: DatabaseID, into parts: Int) throws -> Partition {
    let leases = try leases(of: database)
    let present = leases.first?.part.count ?? 1
    let isPending = leases.first?.repartition != nil
    if present == parts, !isPending { return Partition(parts: parts) }
    let outbox = OutboxTable(transaction: transaction)
    guard try outbox.hasUndispatched(in: database) else {
      try divide(database, into: parts)
      return Partition(parts: parts)
    }
    let id = SQLValue.id(database)
    if isPending {
      try connection.run(sql.partition.plan, [id, .count(parts)])
    } else {
      if leases.isEmpty {
        try connection.run(sql.partition.addFree, [id])
      }
      try connection.run(
        sql.partition.planChange,
        [id, .integer(try outbox.lastSequence(in: database)), .count(parts)])
    }
    return Partition(parts: present, nextParts: parts)
  }

  struct PartitionStatements {
    let clear: Statement = "DELETE FROM dispatch_leases WHERE database_id = $1"
    let add: Statement = """
      INSERT INTO dispatch_leases (database_id, part, parts, holder, wake_up)
      VALUES ($1, $2, $3, 0, 1)
      """
    let plan: Statement = "UPDATE dispatch_leases SET next_parts = $2 WHERE database_id = $1"
    let addFree: Statement =
      "INSERT INTO dispatch_leases (database_id, holder, wake_up) VALUES ($1, 0, 1)"
    let planChange: Statement =
      "UPDATE dispatch_leases SET last_change = $2, next_parts = $3 WHERE database_id = $1"
  }
}
