import CloudKitModel
import StoreModel

extension RecordModifier {
  /// Saves a record, unless that makes the database larger and exceeds its quota.
  ///
  /// The size of a record and its assets is known only after they are written. Near the quota they
  /// are therefore written under a savepoint, which is rolled back if they are too large.
  ///
  /// A save that leaves the database smaller is accepted even above the quota. A modification
  /// without a quota is not limited.
  ///
  /// - Throws: ``ItemFailure/Code/quotaExceeded`` with the quota as its limit, after rolling the
  ///   save back.
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

  /// An upper bound of the stored size of any record that fits into a request.
  ///
  /// It is in bytes. Below the quota by this much, a record without assets needs no savepoint.
  static let largestContent = Int64(2 * ServiceLimits.requestBodySize)
}

/// The state of a modification when a savepoint was set.
struct WriteMark {
  /// The state of the transaction.
  private let written: StoreTransaction.Mark
  /// The numbers that were not used.
  private let numbers: NumberSupply
  /// The number of the latest change.
  private let latest: Int64

  /// Takes the present state. Call it before the savepoint is set.
  init(_ modifier: RecordModifier) {
    written = modifier.transaction.mark
    numbers = modifier.numbers
    latest = modifier.latest
  }

  /// Resets the modification to the mark, after its savepoint was rolled back.
  ///
  /// The rollback also returned the numbers drawn since.
  func restore(_ modifier: inout RecordModifier) {
    modifier.transaction.restore(written)
    modifier.numbers = numbers
    modifier.latest = latest
  }
}

extension DatabaseScope {
  /// The limit that counts the bytes of such a database; nil for a database that stores nothing.
  fileprivate var bytesQuota: StoreQuotas.Subject? {
    switch self {
    case .private: .privateDatabaseBytes
    case .public: .publicDatabaseBytes
    case .shared: nil
    }
  }
}
