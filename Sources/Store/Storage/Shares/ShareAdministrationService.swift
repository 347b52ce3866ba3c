import CloudKitModel
import StoreModel

/// The shares of all users, for administrators.
///
/// Changes have the effects of a save or deletion by the owner, who counts as their author: the
/// share gets a new change tag, and change feeds have the change.
public struct ShareAdministrationService: Sendable {
  let transactions: Transactions

  /// Returns a page of the shares after `last`, in the order of ``ShareSummary/Place``.
  ///
  /// - Parameter limit: the work grows with this number, and not with the number of covered
  ///   records.
  public func shares(
    _ filter: ShareFilter, after last: ShareSummary.Place?, limit: Int
  ) async throws -> ShareList {
    try await transactions.read { transaction in
      let search = PiecewiseSearch(budget: ShareList.budget, pieceSize: 500, limit: limit)
      let lookup = ShareLookup(transaction: transaction)
      let start = last ?? ShareSummary.Place(database: DatabaseID(rawValue: 0), number: 0)
      let (found, next) = try search.walk(from: start) { place, count in
        try lookup.places(filter, after: place, limit: count)
      } place: {
        $0
      } wanted: {
        try lookup.summary(at: $0, in: filter.place)
      }
      return ShareList(found: found, next: next)
    }
  }

  /// Returns a share with its participants, by its record and the owner's private database.
  public func share(_ shareID: RecordID, in database: DatabaseID) async throws -> AdministeredShare?
  {
    try await transactions.read { transaction in
      try ShareLookup(transaction: transaction).share(shareID, in: database)
    }
  }

  /// Counts shares and participants in all databases, for metrics.
  ///
  /// - Complexity: O(*n*) in their number.
  public func counts() async throws -> ShareCounts {
    try await transactions.read { transaction in
      let participants = try ParticipantTable(transaction: transaction).counts()
      return ShareCounts(
        shares: try ShareTable(transaction: transaction).count(),
        invited: participants.invited, accepted: participants.accepted)
    }
  }

  /// Returns the users who see a record of a private database; nil if there is no such record.
  public func readers(of recordID: RecordID, in database: DatabaseID) async throws -> RecordReaders?
  {
    try await transactions.read { transaction in
      try ShareLookup(transaction: transaction).readers(of: recordID, in: database)
    }
  }

  /// Removes a participant from a share.
  ///
  /// - Throws: ``ItemFailure/Code/notFound`` if there is no such share or participant;
  ///   ``ItemFailure/Code/invalid`` for the owner, and for an invited participant of a public share.
  public func removeParticipant(
    _ participantID: String, from shareID: RecordID, in database: DatabaseID, timestamp: Timestamp
  ) async throws {
    try await change(shareID, in: database) { found, lookup in
      let participants = found.record.shareContent?.participants ?? []
      guard let participant = participants.first(where: { $0.participantID == participantID })
      else {
        throw ItemFailure(
          .notFound, field: "participant",
          "share '\(shareID.recordName)' has no participant '\(participantID)'")
      }
      guard participant.role != .owner else {
        throw ItemFailure(
          .invalid, field: "participant",
          "the owner of share '\(shareID.recordName)' cannot be removed; end the share instead")
      }
      let content = ShareContent(participants: participants.filter { $0 != participant })
      try lookup.modify(
        RecordOperation(
          kind: .forceUpdate, recordID: found.record.recordID,
          recordType: ShareContent.recordType, shareContent: content), in: database, at: timestamp)
    }
  }

  /// Ends a share. Its participants are removed, its records stay with the owner.
  ///
  /// - Throws: ``ItemFailure/Code/notFound`` if there is no such share.
  public func endShare(_ shareID: RecordID, in database: DatabaseID, timestamp: Timestamp)
    async throws
  {
    try await change(shareID, in: database) { found, lookup in
      try lookup.modify(
        RecordOperation(kind: .forceDelete, recordID: found.record.recordID), in: database,
        at: timestamp)
    }
  }

  /// Replaces the link of a share. The new link stays with the root record or zone, also when
  /// sharing ends and begins again. Participants stay.
  ///
  /// - Throws: ``ItemFailure/Code/notFound`` if there is no such share.
  public func renewLink(of shareID: RecordID, in database: DatabaseID, timestamp: Timestamp)
    async throws
  {
    try await change(shareID, in: database) { found, lookup in
      try lookup.renewLink(of: found.share, in: database, at: timestamp)
    }
  }

  private func change(
    _ shareID: RecordID, in database: DatabaseID,
    _ body: @escaping @Sendable (ShareLookup.Found, ShareLookup) throws -> Void
  ) async throws {
    try await transactions.write(locking: .database(database)) {
      transaction in
      let lookup = ShareLookup(transaction: transaction)
      guard let found = try lookup.find(shareID, in: database) else {
        throw ItemFailure(
          .notFound, field: "share",
          "there is no share '\(shareID.recordName)' in zone '\(shareID.zoneID.zoneName)'")
      }
      try body(found, lookup)
    }
  }
}
