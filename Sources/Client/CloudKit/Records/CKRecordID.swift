package import CloudKitModel

/// The name of a record and the zone it lies in: `CKRecord.ID`. Immutable.
///
/// Two IDs are equal when name and zone are.
open class CKRecordID: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  public let recordName: String
  public let zoneID: CKRecordZone.ID

  /// The ID of a record with a name of your own.
  ///
  /// - Precondition: `recordName` is not empty. The server refuses names over 255 ASCII characters
  ///   and new records whose name begins with `_`.
  public convenience init(recordName: String) {
    self.init(recordName: recordName, zoneID: .default)
  }

  /// The ID of a record in a zone; without a name, a UUID is made.
  public init(
    recordName: String = UUID().uuidString, zoneID: CKRecordZone.ID = CKRecordZone.ID.default
  ) {
    requireArgument(!recordName.isEmpty, "CKRecord.ID: recordName must not be empty")
    self.recordName = recordName
    self.zoneID = zoneID
  }

  /// The ID of a record that the server named.
  package init(_ model: RecordID) {
    recordName = model.recordName
    zoneID = CKRecordZone.ID(model.zoneID)
  }

  open class var supportsSecureCoding: Bool { true }

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
