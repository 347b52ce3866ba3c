import CloudKitModel
import StoreModel

extension RecordWriter {
  /// Comes after the record's new place was written, or before its place is removed.
  ///
  /// - Parameter topBefore: the top of the record before a change that moved it.
  /// - Complexity: in a database without shares, no statement; otherwise at most four.
  func audience(
    ofRecord number: Int64, inZone zone: Int64, topBefore: Int64? = nil, departed: [String] = []
  ) throws -> ShareAudience {
    guard address.scope == .private,
      try OutboxTable(transaction: transaction).listeners(in: database).hasShares
    else { return ShareAudience(departed: departed) }
    let shares = ShareTable(transaction: transaction)
    if let share = try shares.number(ofRoot: nil, inZone: zone, of: database) {
      return ShareAudience(shares: [share], departed: departed)
    }
    let top = try HierarchyTable(transaction: transaction).place(of: number, in: database)?.top
    let tops = Set([top, topBefore].compactMap(\.self)).sorted()
    return ShareAudience(
      shares: try tops.compactMap { try shares.number(ofRoot: $0, inZone: zone, of: database) },
      departed: departed)
  }

  /// Returns the participants whose part ends with the record of a share.
  func departed(withDeletionOf stored: StoredRecord) throws -> [String] {
    guard stored.record.recordType == ShareContent.recordType else { return [] }
    return try ParticipantTable(transaction: transaction)
      .participants(of: stored.number, in: database).filter(\.mayRead).compactMap(\.joinedUser)
  }
}

extension StoredParticipant {
  /// The user; nil before the acceptance.
  var joinedUser: String? { joined == nil ? nil : user }
}
