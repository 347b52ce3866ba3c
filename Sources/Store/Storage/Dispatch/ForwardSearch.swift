import CloudKitModel
import StoreModel

/// The search for the participants to whom changes of a private database are forwarded.
struct ForwardSearch {
  let source: DatabaseID
  let transaction: StoreTransaction

  /// A change that a participant learns of.
  private struct Heard {
    var entry: OutboxEntry
    /// Whether the participant's part in a share ended with the change.
    var isDeparture: Bool
  }

  /// Returns the changes with the subscriptions that they fire, for each participant with such a
  /// subscription. The entries are in the order of their numbers.
  ///
  /// - Complexity: a statement for each share, and two for each participant.
  func forwards(of entries: [OutboxEntry]) throws -> [[MatchedChange]] {
    let address = try DatabaseTable(transaction: transaction).address(of: source)
    return try heard(entries).sorted { $0.key < $1.key }.compactMap { user, heard in
      let shared = DatabaseAddress(
        container: address.container, environment: address.environment, scope: .shared, owner: user)
      guard let database = try DatabaseTable(transaction: transaction).database(at: shared)
      else { return nil }
      let subscriptions = try SubscriptionTable(transaction: transaction)
        .storedSubscriptions(of: user, in: database)
      if subscriptions.isEmpty { return nil }
      let naming = ZoneNaming(owner: address.owner ?? "", participant: user)
      let changes = try heard.compactMap { heard in
        try match(heard, naming, subscriptions, in: database)
      }
      return changes.isEmpty ? nil : changes
    }
  }

  private func heard(_ entries: [OutboxEntry]) throws -> [String: [Heard]] {
    let participants = ParticipantTable(transaction: transaction)
    var users: [Int64: [(user: String, joined: Int64)]] = [:]
    var heard: [String: [Heard]] = [:]
    for entry in entries {
      let departed = Set(entry.audience.departed)
      for user in departed {
        heard[user, default: []].append(Heard(entry: entry, isDeparture: true))
      }
      var present: Set<String> = []
      for share in entry.audience.shares {
        let known = try users[share] ?? participants.users(of: share, in: source)
        users[share] = known
        present.formUnion(known.filter { $0.joined <= entry.sequence }.map(\.user))
      }
      for user in present.subtracting(departed) {
        heard[user, default: []].append(Heard(entry: entry, isDeparture: false))
      }
    }
    return heard
  }

  private func match(
    _ heard: Heard, _ naming: ZoneNaming, _ subscriptions: [StoredSubscription],
    in database: DatabaseID
  ) throws -> MatchedChange? {
    let change = naming.outward(heard.entry.change, isDeparture: heard.isDeparture)
    let firings = subscriptions.filter { $0.subscription.kind.matches(change) }
    if firings.isEmpty { return nil }
    var entry = OutboxEntry(
      part: .whole(database), sequence: heard.entry.sequence,
      subscriptionVersion: heard.entry.subscriptionVersion, change: change)
    entry.forwarding = ChangeForwarding(
      source: source,
      endsZone: heard.isDeparture
        ? try !isPart(naming.participant, ofZone: heard.entry.change.zoneID) : false)
    return MatchedChange(entry: entry, firings: firings)
  }

  private func isPart(_ user: String, ofZone zoneID: ZoneID) throws -> Bool {
    guard let zone = try ZoneTable(transaction: transaction).number(of: zoneID, in: source)
    else { return false }
    return try !ParticipantTable(transaction: transaction)
      .memberships(of: user, inZone: zone, of: source).isEmpty
  }
}

extension ZoneNaming {
  /// The change is without the contents of the record. If the participant's part in a share ended
  /// with it, the share is deleted for the participant.
  func outward(_ change: Change, isDeparture: Bool) -> Change {
    var change = change
    change.zoneID = outward(change.zoneID)
    change.record = change.record.map {
      Record(recordID: outward($0.recordID), recordType: $0.recordType)
    }
    if isDeparture, change.record != nil { change.event = .recordDeleted }
    return change
  }
}
