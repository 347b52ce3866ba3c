import CloudKitModel
import JSONCoding

/// The body of `zones/modify`. The operations are independent: a failure does not undo the other
/// operations.
///
/// ```
/// { "operations": [ { "operationType": "create",
///                     "zone": { "zoneID": { "zoneName": "Notes" } } } ] }
/// ```
public struct ModifyZonesRequest: Sendable {
  /// The operations, in the order of the request. An operation that could not be read is a failed
  /// item.
  public var operations: [Result<ZoneOperation, FailedItem>]

  /// Creates a request.
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
  /// The names of the operations on the wire.
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

/// An object that contains the ID of a zone.
private struct NamedZone: MessageObject {
  var zoneID: ZoneID

  static let blank = NamedZone(zoneID: .default)

  mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("zoneID", &zoneID)
  }
}

/// The body of `zones/lookup`: it asks for zones by their IDs.
public struct LookupZonesRequest: Sendable {
  /// The IDs, in the order of the answer.
  public var zoneIDs: [ZoneID]

  /// Creates a request.
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

  /// A zone in a request. It may be the zone's ID, an object with the ID, or the zone's name.
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
///
/// ```
/// { "zones": [ { "zoneID": { "zoneName": "Notes", "zoneType": "REGULAR_CUSTOM_ZONE" },
///                "syncToken": "…", "atomic": true } ] }
/// ```
public struct ZonesResponse: Sendable {
  /// A successful item of the answer.
  public enum Item: Sendable, Hashable {
    /// A zone.
    ///
    /// - Parameters:
    ///   - isAtomic: Whether requests may be atomic in the zone; false only for the default zone.
    ///   - syncToken: The change token of the newest change in the zone's feed; nil for the default
    ///     zone.
    ///   - share: The reference to the share of the whole zone; nil if there is none.
    case zone(ZoneID, isAtomic: Bool, syncToken: String? = nil, share: Reference? = nil)
    /// A zone that the request deleted.
    case deleted(ZoneID)
  }

  /// The results, and the errors of items that failed.
  public var zones: [Result<Item, FailedItem>]

  /// Creates an answer.
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

  /// Passes the members to the coder. A deleted zone has neither `atomic` nor `syncToken`.
  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    var zone: AnsweredZone
    var isAtomic: Bool?
    var token: String?
    var share: Reference?
    var isDeleted: Bool?
    switch self {
    case .zone(let zoneID, let atomic, let syncToken, let reference):
      (zone, isAtomic, token, share) = (AnsweredZone(zoneID), atomic, syncToken, reference)
    case .deleted(let zoneID):
      (zone, isDeleted) = (AnsweredZone(zoneID), true)
    }
    try coder.required("zoneID", &zone)
    try coder.optional(
      "syncToken", &token,
      "The newest position in the zone's change feed. Missing in zones/changes and for a default zone."
    )
    try coder.optional("atomic", &isAtomic, "Missing if the zone is deleted.")
    try coder.optional("share", &share, "The share of the whole zone.")
    try coder.optional("deleted", &isDeleted, "true if the zone is deleted.")
    self =
      isDeleted == true
      ? .deleted(zone.zoneID)
      : .zone(zone.zoneID, isAtomic: isAtomic ?? false, syncToken: token, share: share)
  }
}
