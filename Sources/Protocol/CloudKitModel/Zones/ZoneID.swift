/// The name of a zone and of its owner.
public struct ZoneID: Sendable, Hashable, CustomStringConvertible {
  /// The name of the zone that every database has.
  public static let defaultZoneName = "_defaultZone"
  /// Stands for the owner of the database that the zone lies in (`CKCurrentUserDefaultName`).
  public static let currentOwnerName = "__defaultOwner__"
  /// The default zone of the database in question.
  public static let `default` = ZoneID(zoneName: defaultZoneName)

  public var zoneName: String
  /// The owner's user record name, or ``currentOwnerName``.
  public var ownerName: String

  public init(zoneName: String, ownerName: String = ZoneID.currentOwnerName) {
    self.zoneName = zoneName
    self.ownerName = ownerName
  }

  public var isDefaultZone: Bool { zoneName == Self.defaultZoneName }

  public var description: String {
    ownerName == Self.currentOwnerName ? zoneName : "\(zoneName):\(ownerName)"
  }

  /// Throws unless the name may be given to a new zone: 1 to 255 ASCII characters that do not
  /// begin with `_`. (The default zone's own name passes: it exists already.)
  public func validate() throws(ModelError) {
    if isDefaultZone { return }
    try Identifier.validate(zoneName, as: "zoneName")
  }
}
