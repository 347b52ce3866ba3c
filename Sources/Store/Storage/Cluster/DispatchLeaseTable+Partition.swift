import SQLEngine
import StoreModel

// MARK: Divided databases

extension DispatchLeaseTable {
  /// The number of parts of a database, and the pending number if it is to be divided differently.
  func partition(of database: DatabaseID) throws -> Partition {
    guard let lease = try leases(of: database).first else { return Partition(parts: 1) }
    return Partition(parts: lease.part.count, nextParts: lease.repartition?.nextParts)
  }

  /// Divides a database into parts without holders. They start from the common position of the
  /// former parts. All begin with a pending wake-up. The caller has locked the database's row.
  ///
  /// - Parameter parts: the new number of parts; 1 makes the database whole again.
  func divide(_ database: DatabaseID, into parts: Int) throws {
    let id = SQLValue.integer(database.rawValue)
    let position =
      try DispatchTable(transaction: transaction).position(of: database)
      ?? DispatchPosition(through: .min, changes: 0)
    let dispatches = PartDispatchTable(transaction: transaction)
    try connection.run("DELETE FROM dispatch_leases WHERE database_id = $1", [id])
    try dispatches.remove(of: database)
    for number in 0..<parts {
      // With a pending wake-up: changes may have been committed after the last one of the former parts.
      try connection.run(
        """
        INSERT INTO dispatch_leases (database_id, part, parts, holder, wake_up)
        VALUES ($1, $2, $3, 0, 1)
        """, [id, .integer(Int64(number)), .integer(Int64(parts))])
      if parts == 1 { return }
      try dispatches.add(position, ofPart: number, of: database)
    }
  }

  /// Divides a database as soon as its present changes are dispatched, which may be at once. The
  /// caller has locked the database's row.
  ///
  /// While changes wait, the lease rows note the last of them and the new number. The transaction
  /// that dispatches that change then divides the database (``DispatchProgress``). A second call
  /// before that changes the number, not the change.
  ///
  /// - Returns: the present and the pending number of parts.
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
    let id = SQLValue.integer(database.rawValue)
    if isPending {
      try connection.run(
        "UPDATE dispatch_leases SET next_parts = $2 WHERE database_id = $1",
        [id, .integer(Int64(parts))])
    } else {
      if leases.isEmpty {
        try connection.run(
          "INSERT INTO dispatch_leases (database_id, holder, wake_up) VALUES ($1, 0, 1)", [id])
      }
      try connection.run(
        "UPDATE dispatch_leases SET last_change = $2, next_parts = $3 WHERE database_id = $1",
        [id, .integer(try outbox.lastSequence(in: database)), .integer(Int64(parts))])
    }
    return Partition(parts: present, nextParts: parts)
  }
}
