package import CloudKitModel

/// The name of a zone and of its owner: `CKRecordZone.ID`. Immutable.
///
/// Two IDs are equal when both names are.
open class CKRecordZoneID: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The default zone of the current user.
  public static let `default` = CKRecordZoneID(
    zoneName: defaultZoneName, ownerName: CKCurrentUserDefaultName)

  /// The name of the zone that every database has.
  public static let defaultZoneName = "_defaultZone"

  public let zoneName: String
  /// The owner's user record name, or `CKCurrentUserDefaultName`.
  public let ownerName: String

  /// The ID of a zone.
  ///
  /// - Precondition: Neither name is empty. The server refuses names over 255 ASCII characters and
  ///   new zones whose name begins with `_`.
  public init(
    zoneName: String = CKRecordZoneID.defaultZoneName,
    ownerName: String = CKCurrentUserDefaultName
  ) {
    requireArgument(!zoneName.isEmpty, "CKRecordZone.ID: zoneName must not be empty")
    requireArgument(!ownerName.isEmpty, "CKRecordZone.ID: ownerName must not be empty")
    self.zoneName = zoneName
    self.ownerName = ownerName
  }

  /// The ID of a zone that the server named.
  package init(_ model: ZoneID) {
    zoneName = model.zoneName
    ownerName = model.ownerName
  }

  @_disfavoredOverload
  @available(*, deprecated, message: "Pass a non-nil ownerName")
  public convenience init(
    zoneName: String = CKRecordZoneID.defaultZoneName,
    ownerName: String? = CKOwnerDefaultName
  ) {
    let owner: String = ownerName ?? CKCurrentUserDefaultName
    self.init(zoneName: zoneName, ownerName: owner)
  }

  open class var supportsSecureCoding: Bool { true }

  public required init?(coder: NSCoder) {
    guard let zoneName = coder.decodeOptionalString(forKey: "ZoneName", "zoneName"),
      !zoneName.isEmpty,
      let ownerName = coder.decodeOptionalString(forKey: "ownerName"), !ownerName.isEmpty
    else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    self.zoneName = zoneName
    self.ownerName = ownerName
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encodeOptional(zoneName, forKey: "ZoneName")
    coder.encodeOptional(ownerName, forKey: "ownerName")
  }

  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKRecordZoneID else { return false }
    return zoneName == other.zoneName && ownerName == other.ownerName
  }

  open override var hash: Int {
    var hasher = Hasher()
    hasher.combine(zoneName)
    hasher.combine(ownerName)
    return hasher.finalize()
  }

  open override var description: String { "<CKRecordZoneID: \(zoneName):\(ownerName)>" }
}
