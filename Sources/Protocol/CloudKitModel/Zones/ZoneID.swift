/// The name of a zone with the name of its owner.
public struct ZoneID: Sendable, Hashable, CustomStringConvertible {
  /// The name of the zone that every public and private database has.
  public static let defaultZoneName = "_defaultZone"
  /// The name that stands for the owner of the database in which the zone lies
  /// (`CKCurrentUserDefaultName`).
  public static let currentOwnerName = "__defaultOwner__"
  /// The default zone of the current database.
  public static let `default` = ZoneID(zoneName: defaultZoneName)

  /// The name of the zone, unique for its owner.
  public var zoneName: String
  /// The owner's user record name, or ``currentOwnerName``.
  public var ownerName: String

  /// Creates an ID without checks; ``validate()`` makes them.
  public init(zoneName: String, ownerName: String = ZoneID.currentOwnerName) {
    self.zoneName = zoneName
    self.ownerName = ownerName
  }

  /// Whether the zone is the default zone, which has no change feed and no atomic commits.
  public var isDefaultZone: Bool { zoneName == Self.defaultZoneName }

  /// The name of the zone, followed by `:` and the owner when the owner is not the current one.
  public var description: String {
    ownerName == Self.currentOwnerName ? zoneName : "\(zoneName):\(ownerName)"
  }

  /// Checks that a new zone may have the name: 1 to 255 printable ASCII characters, of which the
  /// first is not `_`. The default zone's own name passes, because that zone exists already.
  ///
  /// - Throws: ``ModelError`` with ``ModelError/Code/invalidName``.
  public func validate() throws(ModelError) {
    if isDefaultZone { return }
    try Identifier.validate(zoneName, as: "zoneName")
  }
}
