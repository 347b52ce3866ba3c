import CloudKitModel
import JSONCoding

/// An operation that returns the changed zones of a database, with its names in messages.
package protocol DatabaseChangesNaming: Sendable {
  static var tokenName: String { get }
  /// Whether a zone in the answer has the member `atomic` beside its ID.
  static var hasWholeZones: Bool { get }
}

/// The operation `changes/database`.
package enum CurrentDatabaseChanges: DatabaseChangesNaming {
  package static let tokenName = "syncToken"
  package static let hasWholeZones = false
}

/// The older operation `zones/changes`, which `changes/database` has replaced.
package enum SupersededDatabaseChanges: DatabaseChangesNaming {
  package static let tokenName = "metaSyncToken"
  package static let hasWholeZones = true
}

/// The body of `changes/database` or `zones/changes`.
package struct DatabaseChangesRequest<Naming: DatabaseChangesNaming>: Sendable, Hashable {
  /// The token of an earlier answer; nil starts at the beginning.
  package var syncToken: String?
  /// The largest number of zones in the answer. 0 leaves the number to the server.
  package var resultsLimit: Int

  package init(syncToken: String? = nil, resultsLimit: Int = 0) {
    self.syncToken = syncToken
    self.resultsLimit = resultsLimit
  }
}

extension DatabaseChangesRequest: Message, MessageObject {
  package static var blank: Self { Self() }

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.syncToken(&syncToken, as: Naming.tokenName)
    try coder.resultsLimit(&resultsLimit)
  }
}

/// The answer of `changes/database` or `zones/changes`.
///
/// ```
/// { "zones": [ { "zoneID": { "zoneName": "Notes", "zoneType": "REGULAR_CUSTOM_ZONE" } } ],
///   "syncToken": "…", "moreComing": false }
/// ```
package struct DatabaseChangesResponse<Naming: DatabaseChangesNaming>: Sendable {
  /// The changed and deleted zones, in the order of their last changes.
  package var zones: [Result<ZoneChange, FailedItem>]
  /// The token with which the next request continues after these zones.
  package var syncToken: String
  /// Whether there are more changed zones after these.
  package var moreComing: Bool

  package init(zones: [Result<ZoneChange, FailedItem>], syncToken: String, moreComing: Bool) {
    self.zones = zones
    self.syncToken = syncToken
    self.moreComing = moreComing
  }
}

extension DatabaseChangesResponse: Message, MessageObject {
  package static var blank: Self { Self(zones: [], syncToken: "", moreComing: false) }

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    var items = zones.map { $0.map { Item(change: $0) } }
    try coder.required("zones", &items, "In the order of their last changes.")
    zones = items.map { $0.map(\.change) }
    try coder.required(Naming.tokenName, &syncToken, "Send it to get the next changes.")
    try coder.written("moreComing", &moreComing)
  }

  /// An entry of the list in a message. A deleted zone has `"deleted": true`, one that
  /// was deleted outside of the app `"purged": true` too.
  private struct Item: MessageObject {
    var change: ZoneChange

    static var blank: Item { Item(change: .changed(.default)) }

    /// Passes the zone to the coder. In `zones/changes`, a zone that is not deleted also has
    /// `"atomic": true`.
    mutating func code<Coder: MessageCoder & ~Copyable>(
      _ coder: inout Coder
    ) throws(Coder.Failure) {
      var zone: AnsweredZone
      var isDeleted: Bool?
      var isPurged: Bool?
      switch change {
      case .changed(let zoneID): zone = AnsweredZone(zoneID)
      case .deleted(let zoneID): (zone, isDeleted) = (AnsweredZone(zoneID), true)
      case .purged(let zoneID): (zone, isDeleted, isPurged) = (AnsweredZone(zoneID), true, true)
      }
      try coder.required("zoneID", &zone)
      if Naming.hasWholeZones {
        var isAtomic: Bool? = isDeleted == nil ? true : nil
        try coder.optional("atomic", &isAtomic, "Missing if the zone is deleted.")
      }
      try coder.optional("deleted", &isDeleted, "true if the zone is deleted.")
      try coder.optional(
        "purged", &isPurged,
        "Petrel's own: true if the zone was deleted for the user, outside of the app.")
      change =
        isPurged == true
        ? .purged(zone.zoneID)
        : isDeleted == true ? .deleted(zone.zoneID) : .changed(zone.zoneID)
    }
  }
}
