package import CloudKitModel

/// The ID of a record: its name and its zone. Apps use the name `CKRecord.ID`.
///
/// Each record has a unique ID in its database. Two IDs are equal if name and zone are equal. An ID
/// cannot change.
///
/// The class has a top-level name because Foundation on Linux cannot archive nested classes.
open class CKRecordID: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The name of the record, unique in its zone.
  public let recordName: String
  /// The ID of the record's zone.
  public let zoneID: CKRecordZone.ID

  /// Makes the ID of a record in the default zone.
  ///
  /// - Precondition: `recordName` is not empty. The server accepts names of at most 255 characters
  ///   without control characters, and refuses a new record whose name begins with `_`. It returns
  ///   names with composed letters (Unicode normal form C).
  public convenience init(recordName: String) {
    self.init(recordName: recordName, zoneID: .default)
  }

  /// Makes the ID of a record in a zone.
  ///
  /// - Parameters:
  ///   - recordName: The name of the record; by default a new UUID.
  ///   - zoneID: The zone; by default the default zone of the current user.
  /// - Precondition: `recordName` is not empty.
  public init(
    recordName: String = UUID().uuidString, zoneID: CKRecordZone.ID = CKRecordZone.ID.default
  ) {
    requireArgument(!recordName.isEmpty, "CKRecord.ID: recordName must not be empty")
    self.recordName = recordName
    self.zoneID = zoneID
  }

  /// Makes the ID of a record from the server's answer. The name may begin with `_`, as the names
  /// of user records do.
  package init(_ model: RecordID) {
    recordName = model.recordName
    zoneID = CKRecordZone.ID(model.zoneID)
  }

  open class var supportsSecureCoding: Bool { true }

  /// Makes an ID from an archive. Returns nil, and makes the decoder fail, if the name or the zone
  /// is missing.
  public required init?(coder: NSCoder) {
    guard let recordName = coder.decodeOptionalString(forKey: "RecordName", "recordName"),
      !recordName.isEmpty,
      let zoneID = coder.decodeOptional(CKRecordZoneID.self, forKey: "ZoneID", "zoneID")
    else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    self.recordName = recordName
    self.zoneID = zoneID
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encodeOptional(recordName, forKey: "RecordName")
    coder.encode(zoneID, forKey: "ZoneID")
  }

  /// Returns the ID itself, which cannot change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKRecordID else { return false }
    return recordName == other.recordName && zoneID == other.zoneID
  }

  open override var hash: Int {
    var hasher = Hasher()
    hasher.combine(recordName)
    hasher.combine(zoneID)
    return hasher.finalize()
  }

  open override var description: String {
    "<CKRecordID: \(recordName), zone \(zoneID.zoneName):\(zoneID.ownerName)>"
  }
}
