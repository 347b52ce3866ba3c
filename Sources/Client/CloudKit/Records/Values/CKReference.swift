/// A field's pointer to another record of the same database: `CKRecord.Reference`. Immutable.
open class CKReference: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  @available(*, deprecated, renamed: "CKRecord.ReferenceAction")
  public typealias Action = CKRecord.ReferenceAction

  public let recordID: CKRecord.ID
  /// What becomes of the record that holds the reference when the target is deleted.
  public let action: CKRecord.ReferenceAction

  public init(recordID: CKRecord.ID, action: CKRecord.ReferenceAction) {
    self.recordID = recordID
    self.action = action
  }

  public convenience init(record: CKRecord, action: CKRecord.ReferenceAction) {
    self.init(recordID: record.recordID, action: action)
  }

  open class var supportsSecureCoding: Bool { true }

  public required init?(coder: NSCoder) {
    guard let recordID = coder.decodeOptional(CKRecordID.self, forKey: "RecordID", "recordID")
    else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    self.recordID = recordID
    action =
      CKRecord.ReferenceAction(
        rawValue: UInt(clamping: coder.decodeInteger(forKey: "ReferenceAction", "action")))
      ?? CKRecord.ReferenceAction.none
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encode(recordID, forKey: "RecordID")
    coder.encode(Int(action.rawValue), forKey: "ReferenceAction")
  }

  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKReference else { return false }
    return recordID == other.recordID && action == other.action
  }

  open override var hash: Int { recordID.hash }

  open override var description: String {
    "<CKReference: \(recordID.recordName), zone \(recordID.zoneID.zoneName):\(recordID.zoneID.ownerName)>"
  }
}
