package import CloudKitModel

/// The ID of a zone: its name and the name of its owner. Apps use the name `CKRecordZone.ID`.
///
/// Two IDs are equal if both names are equal. An ID cannot change.
open class CKRecordZoneID: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The ID of the current user's default zone.
  public static let `default` = CKRecordZoneID(
    zoneName: defaultZoneName, ownerName: CKCurrentUserDefaultName)

  /// The name of the default zone: `_defaultZone`.
  public static let defaultZoneName = "_defaultZone"

  /// The name of the zone, unique among the zones of its owner.
  public let zoneName: String
  /// The name of the owner's user record, or `CKCurrentUserDefaultName` for the current user.
  public let ownerName: String

  /// Makes the ID of a zone.
  ///
  /// - Parameters:
  ///   - zoneName: The name of the zone; by default the name of the default zone.
  ///   - ownerName: The name of the owner's user record; by default the current user.
  /// - Precondition: Neither name is empty. The server accepts names of at most 255 characters
  ///   without control characters, and refuses a new zone whose name begins with `_`.
  public init(
    zoneName: String = CKRecordZoneID.defaultZoneName,
    ownerName: String = CKCurrentUserDefaultName
  ) {
    requireArgument(!zoneName.isEmpty, "CKRecordZone.ID: zoneName must not be empty")
    requireArgument(!ownerName.isEmpty, "CKRecordZone.ID: ownerName must not be empty")
    self.zoneName = zoneName
    self.ownerName = ownerName
  }

  package init(_ model: ZoneID) {
    zoneName = model.zoneName
    ownerName = model.ownerName
  }

  /// Makes the ID of a zone. If `ownerName` is nil, the zone belongs to the current user.
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

  /// Makes an ID from an archive. Returns nil, and makes the decoder fail, if a name is missing.
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

  /// Returns the ID itself, which cannot change.
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
