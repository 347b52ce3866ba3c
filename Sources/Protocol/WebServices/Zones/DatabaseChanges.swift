import CloudKitModel
import JSONCoding

/// How an operation says which zones of a database changed.
package protocol DatabaseChangesNaming: Sendable {
  /// The name of the change token.
  static var tokenName: String { get }
  /// Whether the answer has whole zones.
  static var hasWholeZones: Bool { get }
}

/// `changes/database`.
package enum CurrentDatabaseChanges: DatabaseChangesNaming {
  package static let tokenName = "syncToken"
  package static let hasWholeZones = false
}

/// `zones/changes`, which `changes/database` superseded.
package enum SupersededDatabaseChanges: DatabaseChangesNaming {
  package static let tokenName = "metaSyncToken"
  package static let hasWholeZones = true
}

/// The body of `changes/database` or `zones/changes`.
package struct DatabaseChangesRequest<Naming: DatabaseChangesNaming>: Sendable, Hashable {
  /// Where to go on; nil begins with everything.
  package var syncToken: String?
  /// Zones in the answer at most; 0 leaves it to the server.
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
package struct DatabaseChangesResponse<Naming: DatabaseChangesNaming>: Sendable {
  package var zones: [Result<ZoneChange, FailedItem>]
  /// Stands for what was read up to here.
  package var syncToken: String
  /// Whether there is more to read now.
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
    try coder.required(Naming.tokenName, &syncToken, "Send it to go on from here.")
    try coder.written("moreComing", &moreComing)
  }

  private struct Item: MessageObject {
    var change: ZoneChange

    static var blank: Item { Item(change: .changed(.default)) }

    mutating func code<Coder: MessageCoder & ~Copyable>(
      _ coder: inout Coder
    ) throws(Coder.Failure) {
      var zone: AnsweredZone
      var isDeleted: Bool?
      switch change {
      case .changed(let zoneID): zone = AnsweredZone(zoneID)
      case .deleted(let zoneID): (zone, isDeleted) = (AnsweredZone(zoneID), true)
      }
      try coder.required("zoneID", &zone)
      if Naming.hasWholeZones {
        var isAtomic: Bool? = isDeleted == nil ? true : nil
        try coder.optional("atomic", &isAtomic, "Not of a zone that is deleted.")
      }
      try coder.optional("deleted", &isDeleted, "true where the zone is deleted.")
      change = isDeleted == true ? .deleted(zone.zoneID) : .changed(zone.zoneID)
    }
  }
}
