import CloudKitModel
import StoreModel

extension RecordModifier {
  /// Saves a record. A save that makes the database larger and larger than its quota is refused.
  ///
  /// The size of a record and its assets is known only after they are written. If the database is
  /// near its quota or the record has assets, they are therefore written under a savepoint. If they
  /// are too large, the transaction is rolled back to the savepoint.
  ///
  /// A save that does not make the database larger is accepted even above the quota. A modification
  /// without a quota is not limited.
  ///
  /// - Throws: ``ItemFailure/Code/quotaExceeded``, with the quota in bytes as its limit; the errors
  ///   of ``save(_:named:over:in:)``.
  mutating func saveWithinQuota(
    _ record: Record, named: [String], over current: StoredRecord?, in zone: ZoneModification
  ) throws -> Record {
    guard let quota = modification.quota, let subject = address.scope.bytesQuota else {
      return try save(record, named: named, over: current, in: zone)
    }
    let before = try DatabaseTable(transaction: transaction).totalBytes(of: database)
    let hasAssets = record.fields.contains { $0.value.isAsset }
    if !hasAssets, before + Self.largestContent <= quota {
      return try save(record, named: named, over: current, in: zone)
    }
    let mark = WriteMark(self)
    try transaction.connection.run("SAVEPOINT quota", [])
    do {
      let saved = try save(record, named: named, over: current, in: zone)
      let after = try DatabaseTable(transaction: transaction).totalBytes(of: database)
      guard after <= quota || after <= before else {
        transaction.context.quotas.note(refusalOf: subject)
        guard !isByParticipant else {
          throw ItemFailure(
            .quotaExceeded,
            "with record '\(record.recordID)' the database of the zone's owner would exceed its quota"
          )
        }
        throw ItemFailure(
          .quotaExceeded,
          "with record '\(record.recordID)' the \(address.scope) database would have \(after) bytes; "
            + "its quota is \(quota). Delete records or assets first", limit: Int(quota))
      }
      try transaction.connection.run("RELEASE quota", [])
      return saved
    } catch {
      guard transaction.connection.isInTransaction else { throw error }
      try transaction.connection.run("ROLLBACK TO quota", [])
      try transaction.connection.run("RELEASE quota", [])
      mark.restore(&self)
      throw error
    }
  }

  /// An upper bound, in bytes, of the stored size of a record without its assets: twice the size of
  /// the largest request.
  ///
  /// While the database is at least this much below its quota, a record without assets is saved
  /// without a savepoint.
  static let largestContent = Int64(2 * ServiceLimits.requestBodySize)
}

/// The state of a modification just before a savepoint was set.
struct WriteMark {
  /// The state of the transaction.
  private let written: StoreTransaction.Mark
  /// The numbers that were drawn and not yet used.
  private let numbers: NumberSupply
  /// The number of the modification's latest change.
  private let latest: Int64

  /// Copies the present state. Call it before the savepoint is set.
  init(_ modifier: RecordModifier) {
    written = modifier.transaction.mark
    numbers = modifier.numbers
    latest = modifier.latest
  }

  /// Resets the modification to this state. Call it after the rollback to the savepoint.
  ///
  /// The rollback also undoes the draws of numbers since the savepoint, so these numbers are drawn
  /// again.
  func restore(_ modifier: inout RecordModifier) {
    modifier.transaction.restore(written)
    modifier.numbers = numbers
    modifier.latest = latest
  }
}

extension DatabaseScope {
  /// The quota that limits the bytes of a database of this scope; nil for a shared database, which
  /// stores nothing.
  fileprivate var bytesQuota: StoreQuotas.Subject? {
    switch self {
    case .private: .privateDatabaseBytes
    case .public: .publicDatabaseBytes
    case .shared: nil
    }
  }
}
