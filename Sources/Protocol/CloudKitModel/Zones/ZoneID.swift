/// The name of a zone with the name of its owner.
public struct ZoneID: Sendable, Hashable, CustomStringConvertible {
  /// The name of the zone that every public and private database has.
  public static let defaultZoneName = "_defaultZone"
  /// The name that stands for the owner of the database that contains the zone
  /// (`CKCurrentUserDefaultName`).
  public static let currentOwnerName = "__defaultOwner__"
  /// The default zone of the current database.
  public static let `default` = ZoneID(zoneName: defaultZoneName)

  /// The name of the zone, unique for its owner.
  public var zoneName: String
  /// The owner's user record name, or ``currentOwnerName``.
  public var ownerName: String

  /// Creates an ID without checks; call ``validate()`` to check it. The zone's name is kept in the
  /// form ``Swift/String/composed``.
  public init(zoneName: String, ownerName: String = ZoneID.currentOwnerName) {
    self.zoneName = zoneName.composed
    self.ownerName = ownerName
  }

  /// Whether the zone is the default zone, in which no request is atomic. Outside of the public
  /// database, the default zone has no change feed for users.
  public var isDefaultZone: Bool { zoneName == Self.defaultZoneName }

  /// The name of the zone, followed by `:` and the owner when the owner is not the current one.
  public var description: String {
    ownerName == Self.currentOwnerName ? zoneName : "\(zoneName):\(ownerName)"
  }

  /// Checks that a new zone may have the name: 1 to 255 characters without control
  /// characters, not beginning with `_`. The name of the default zone passes too, although it begins with `_`.
  ///
  /// - Throws: ``ModelError`` with ``ModelError/Code/invalidName``.
  public func validate() throws(ModelError) {
    if isDefaultZone { return }
    try Identifier.validate(zoneName, as: "zoneName")
  }
}
