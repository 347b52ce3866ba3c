import CloudKitModel
import StoreModel

extension RecordModifier {
  /// Saves a record. A save that makes the database larger, and larger than its quota, is refused.
  /// The size of a record and its assets is known only after they were decided; if they are too
  /// large, this is dropped. A modification without a quota is not limited.
  ///
  /// - Parameter named: the names of the fields that the operation sets.
  /// - Throws: ``ItemFailure/Code/quotaExceeded``, with the quota in bytes as its limit; the errors
  ///   of ``SaveCheck/save(of:named:over:)``.
  mutating func save(
    _ record: Record, named: [String], over current: StoredRecord?, in zone: ZoneModification
  ) throws -> Record {
    guard let quota = modification.quota, let subject = address.scope.bytesQuota else {
      return try write(record, named: named, over: current, in: zone)
    }
    let hasAssets = record.fields.contains { $0.value.isAsset }
    guard try hasAssets || isNearQuota() else {
      return try write(record, named: named, over: current, in: zone)
    }
    return try together { modifier in
      let before = try modifier.totalBytes()
      let saved = try modifier.write(record, named: named, over: current, in: zone)
      let after = try modifier.totalBytes()
      if after <= quota || after <= before { return saved }
      modifier.transaction.context.quotas.note(refusalOf: subject)
      throw modifier.excess(of: record, over: quota, by: after)
    }
  }

  private mutating func write(
    _ record: Record, named: [String], over current: StoredRecord?, in zone: ZoneModification
  ) throws -> Record {
    let check = SaveCheck(
      modification: modification, address: address, zone: zone, shared: shared,
      transaction: transaction)
    let saved = try writer.save(check.save(of: record, named: named, over: current))
    if address.scope == .private, let parent = saved.parent {
      parents[saved.recordID.recordName] = parent.recordName
    }
    return saved
  }

  private func excess(of record: Record, over quota: Int64, by bytes: Int64) -> ItemFailure {
    guard !isByParticipant else {
      return ItemFailure(
        .quotaExceeded,
        "with record '\(record.recordID)' the database of the zone's owner would exceed its quota")
    }
    return ItemFailure(
      .quotaExceeded,
      "with record '\(record.recordID)' the \(address.scope) database would have \(bytes) bytes; "
        + "its quota is \(quota). Delete records or assets first", limit: Int(quota))
  }

  func isNearQuota() throws -> Bool {
    guard let quota = modification.quota else { return false }
    return try totalBytes() + Self.largestContent > quota
  }

  private func totalBytes() throws -> Int64 {
    try DatabaseTable(transaction: transaction).totalBytes(of: database)
  }

  /// In bytes: twice the size of the largest request. If the database is at least this much below
  /// its quota, the size of the record does not matter.
  private static let largestContent = Int64(2 * ServiceLimits.requestBodySize)
}

extension DatabaseScope {
  fileprivate var bytesQuota: StoreQuotas.Subject? {
    switch self {
    case .private: .privateDatabaseBytes
    case .public: .publicDatabaseBytes
    case .shared: nil
    }
  }
}
