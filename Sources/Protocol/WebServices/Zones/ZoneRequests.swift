import CloudKitModel
import JSONCoding

/// The body of `zones/modify`.
public struct ModifyZonesRequest: Sendable {
  public var operations: [Result<ZoneOperation, FailedItem>]

  public init(operations: [ZoneOperation]) {
    self.operations = operations.map { .success($0) }
  }
}

extension ModifyZonesRequest: Message, MessageObject {
  package static let blank = ModifyZonesRequest(operations: [])

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.operations("operations", &operations, of: .zone)
  }
}

extension ZoneOperation: MessageObject {
  private enum Name: String, CaseIterable, MessagePart {
    case create, delete
  }

  package static let blank = ZoneOperation.create(.default)

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    var name: Name
    var zone: NamedZone
    switch self {
    case .create(let zoneID): (name, zone) = (.create, NamedZone(zoneID: zoneID))
    case .delete(let zoneID): (name, zone) = (.delete, NamedZone(zoneID: zoneID))
    }
    try coder.required("operationType", &name)
    try coder.required("zone", &zone)
    let zoneID = zone.zoneID
    switch name {
    case .create:
      self = .create(zoneID)
      try coder.check(nil) { () throws(ModelError) in try zoneID.validate() }
    case .delete: self = .delete(zoneID)
    }
  }
}

/// A zone that is named by an object with its ID.
private struct NamedZone: MessageObject {
  var zoneID: ZoneID

  static let blank = NamedZone(zoneID: .default)

  mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("zoneID", &zoneID)
  }
}

/// The body of `zones/lookup`.
public struct LookupZonesRequest: Sendable {
  public var zoneIDs: [ZoneID]

  public init(zoneIDs: [ZoneID]) {
    self.zoneIDs = zoneIDs
  }
}

extension LookupZonesRequest: Message, MessageObject {
  package static let blank = LookupZonesRequest(zoneIDs: [])

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    var zones = zoneIDs.map { SoughtZone(zoneID: $0) }
    try coder.list("zones", &zones, count: 0...ServiceLimits.operationsPerRequest)
    zoneIDs = zones.map(\.zoneID)
  }

  /// A zone by its ID, by an object with its ID, or by its name.
  private struct SoughtZone: MessagePart {
    var zoneID: ZoneID

    init(zoneID: ZoneID) { self.zoneID = zoneID }

    init(_ reader: MessageReader) throws(ServiceError) {
      if reader.node.string == nil, let zoneID = try reader.zoneID() {
        self.zoneID = zoneID
      } else {
        zoneID = try ZoneID(reader)
      }
    }

    func write(to writer: inout JSONWriter, context: MessageContext) {
      zoneID.write(to: &writer, context: context)
    }

    static func schema(in scope: SchemaScope) -> JSONSchema {
      .any(of: [ZoneID.schema(in: scope), NamedZone.schema(in: scope)])
    }
  }
}

/// The answer of `zones/list`, `zones/lookup` and `zones/modify`.
public struct ZonesResponse: Sendable {
  /// One zone of an answer.
  public enum Item: Sendable, Hashable {
    /// - Parameter syncToken: where its change feed stands now.
    case zone(ZoneID, isAtomic: Bool, syncToken: String? = nil)
    case deleted(ZoneID)
  }

  public var zones: [Result<Item, FailedItem>]

  public init(zones: [Result<Item, FailedItem>]) {
    self.zones = zones
  }
}

extension ZonesResponse: Message, MessageObject {
  package static let schemaName: String? = "ZonesResponse"
  package static let blank = ZonesResponse(zones: [])

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("zones", &zones)
  }
}

extension ZonesResponse.Item: MessageObject {
  package static let schemaName: String? = "Zone"
  package static let blank = ZonesResponse.Item.zone(.default, isAtomic: false)

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    var zone: AnsweredZone
    var isAtomic: Bool?
    var token: String?
    var isDeleted: Bool?
    switch self {
    case .zone(let zoneID, let atomic, let syncToken):
      (zone, isAtomic, token) = (AnsweredZone(zoneID), atomic, syncToken)
    case .deleted(let zoneID):
      (zone, isDeleted) = (AnsweredZone(zoneID), true)
    }
    try coder.required("zoneID", &zone)
    try coder.optional(
      "syncToken", &token,
      "Where the zone's change feed stands now. zones/changes leaves it out, and a default zone has none."
    )
    try coder.optional("atomic", &isAtomic, "Not of a zone that is deleted.")
    try coder.optional("deleted", &isDeleted, "true where the zone is deleted.")
    self =
      isDeleted == true
      ? .deleted(zone.zoneID)
      : .zone(zone.zoneID, isAtomic: isAtomic ?? false, syncToken: token)
  }
}
