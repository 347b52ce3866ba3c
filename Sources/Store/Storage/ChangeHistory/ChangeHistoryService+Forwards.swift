import CloudKitModel
import StoreModel

extension ChangeHistoryService {
  /// Returns a change of a private database as it concerns participants of its shares.
  ///
  /// - Parameter user: the only user in the result; nil for all users who learned of the change.
  /// - Returns: empty for a change of another database, and for users without a shared database.
  public func forwards(of past: PastChange, to user: String?) async throws -> [ForwardedChange] {
    try await transactions.read { transaction in
      let address = try DatabaseTable(transaction: transaction).address(of: past.database)
      guard address.scope == .private, let owner = address.owner, owner != user else { return [] }
      let participants = ParticipantTable(transaction: transaction)
      let zone = try ZoneTable(transaction: transaction).number(
        of: past.change.zoneID, in: past.database)
      var users = [user].compactMap(\.self)
      if user == nil {
        users = past.audience.departed
        for share in past.audience.shares {
          users += try participants.everyone(of: share, in: past.database)
        }
      }
      return try Set(users).sorted().compactMap { name in
        let shared = DatabaseAddress(
          container: address.container, environment: address.environment, scope: .shared,
          owner: name)
        guard let database = try DatabaseTable(transaction: transaction).database(at: shared)
        else { return nil }
        let parts =
          try zone.map { try participants.parts(of: name, inZone: $0, of: past.database) } ?? []
        let isDeparture = past.audience.departed.contains(name)
        let obstacle = isDeparture ? nil : past.obstacle(for: parts)
        if user == nil, !isDeparture, !past.wasHeard(with: parts) { return nil }
        let naming = ZoneNaming(owner: owner, participant: name)
        return ForwardedChange(
          user: name,
          change: PastChange(
            database: database, sequence: 0, subscriptionVersion: .max, dispatched: past.dispatched,
            change: naming.outward(past.change, isDeparture: isDeparture)),
          obstacle: obstacle)
      }
    }
  }
}

extension PastChange {
  /// - Parameter parts: the user's present and former parts in shares of the zone.
  fileprivate func obstacle(for parts: [StoredPart]) -> ForwardingObstacle? {
    let shown = parts.filter { audience.shares.contains($0.share) }
    let present = shown.filter { $0.isPresent(at: sequence) }
    if present.contains(where: { $0.participant.ended == nil }) {
      return present.contains { $0.participant.mayRead } ? nil : .notParticipant(since: nil)
    }
    if let ended = (present + shown).first(where: { $0.participant.ended != nil }) {
      return .notParticipant(since: ended.participant.details.removed)
    }
    if !shown.isEmpty { return .notAccepted }
    return parts.contains { $0.isPresent(at: sequence) && $0.participant.ended == nil }
      ? .outsideHierarchy : .notParticipant(since: nil)
  }

  /// Whether a user with these parts in shares of the zone saw the change when it was committed.
  fileprivate func wasHeard(with parts: [StoredPart]) -> Bool {
    parts.contains { audience.shares.contains($0.share) && $0.isPresent(at: sequence) }
  }
}

extension StoredPart {
  /// Whether the user had accepted before a change, and was not removed before it.
  fileprivate func isPresent(at sequence: Int64) -> Bool {
    participant.joined ?? .max <= sequence && participant.ended ?? .max >= sequence
  }
}
