/// A reference to another record, as the value of a field or as a parent. Apps use the name
/// `CKRecord.Reference`.
///
/// The target, which is the other record, must be in the same database. For a reference with the
/// action `.deleteSelf` and for a parent, the target must be in the zone of the record that holds
/// the reference. A reference cannot change.
///
/// ```swift
/// page["note"] = CKRecord.Reference(recordID: note.recordID, action: .deleteSelf)
/// ```
open class CKReference: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The former name of the type of ``action``.
  @available(*, deprecated, renamed: "CKRecord.ReferenceAction")
  public typealias Action = CKRecord.ReferenceAction

  /// The ID of the target.
  public let recordID: CKRecord.ID
  /// The rule that says what happens to the record that holds the reference when the target is
  /// deleted.
  public let action: CKRecord.ReferenceAction

  /// Makes a reference to the record with this ID.
  public init(recordID: CKRecord.ID, action: CKRecord.ReferenceAction) {
    self.recordID = recordID
    self.action = action
  }

  /// Makes a reference to this record.
  public convenience init(record: CKRecord, action: CKRecord.ReferenceAction) {
    self.init(recordID: record.recordID, action: action)
  }

  open class var supportsSecureCoding: Bool { true }

  /// Makes a reference from an archive. Returns nil, and makes the decoder fail, if the ID is
  /// missing.
  public required init?(coder: NSCoder) {
    guard let recordID = coder.decodeOptional(CKRecordID.self, forKey: "RecordID", "recordID")
    else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    self.recordID = recordID
    action =
      CKRecord.ReferenceAction(
        number: UInt(clamping: coder.decodeInteger(forKey: "ReferenceAction", "action")))
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encode(recordID, forKey: "RecordID")
    coder.encode(Int(action.rawValue), forKey: "ReferenceAction")
  }

  /// Returns the reference itself, which cannot change.
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
