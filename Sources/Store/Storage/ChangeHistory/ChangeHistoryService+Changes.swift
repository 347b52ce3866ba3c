import CloudKitModel
import Foundation
import StoreModel

// A change is dispatched when all its notifications are in the log. Dispatched changes stay in the
// outbox as a history, which explains why a push was or was not sent.
extension ChangeHistoryService {
  /// Returns the latest changes of a database, newest first.
  ///
  /// - Parameters:
  ///   - recordID: nil returns all changes. A change without fields (``PastChange/hasFields``) is
  ///     found by the record's name alone.
  ///   - sequence: only earlier changes are returned; nil begins with the newest dispatched change.
  /// - Complexity: at worst O(*n*), where *n* is the number of changes in the database's history.
  public func pastChanges(
    of recordID: RecordID?, in database: DatabaseID, before sequence: Int64?, limit: Int
  ) async throws -> [PastChange] {
    try await transactions.read { transaction in
      guard let position = try DispatchTable(transaction: transaction).position(of: database) else {
        return []
      }
      // The search begins at `sequence - 1`. The maximum prevents an overflow at `Int64.min`.
      var end = position.wholeThrough
      if let sequence { end = min(end, max(sequence, .min + 1) - 1) }
      let pageSize = recordID == nil ? max(1, limit) : 500
      var found: [PastChange] = []
      while found.count < limit {
        let page = try OutboxTable(transaction: transaction).pastChanges(
          of: recordID, in: database, through: end, limit: pageSize)
        found += page.changes
        guard let oldest = page.oldest else { break }
        end = oldest - 1
      }
      return Array(found.prefix(limit))
    }
  }

  /// Deletes changes that were dispatched before `horizon`, except partly dispatched ones.
  ///
  /// The method reads all rows of ``DispatchTable`` in pages. It deletes an old row together with
  /// the changes that its transaction dispatched, and with all earlier changes of the database.
  func trimChangeHistory(before horizon: Timestamp) async throws {
    let pageSize: Int64 = 5_000
    var last = DispatchTable.Key(database: .min, through: .min)
    while true {
      let page = try await transactions.read { [last] transaction in
        try DispatchTable(transaction: transaction).dispatches(behind: last, limit: pageSize)
      }
      let old = page.filter { $0.dispatched < horizon.milliseconds && $0.isWhole }
      var begin = 0
      while begin < old.count {
        // Consecutive rows of one database, with about as many changes as one write may delete.
        let end =
          old[begin...].firstIndex {
            $0.key.database == old[begin].key.database
              && $0.changes - old[begin].changes > Retention.batch
          } ?? min(old.count, begin + Int(Retention.batch))
        let group = old[begin..<min(end, begin + Int(Retention.batch))]
        try await transactions.inEachDatabase(of: Array(group)) { transaction, dispatches in
          for dispatch in dispatches {
            try DispatchTable(transaction: transaction).drop(dispatch.key)
          }
        }
        begin = group.endIndex
      }
      guard page.count == Int(pageSize), let end = page.last else { return }
      last = end.key
    }
  }
}

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
