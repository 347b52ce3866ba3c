/// A field's pointer to another record of the same database: `CKRecord.Reference`. Immutable.
public final class CKReference: NSObject, NSSecureCoding, NSCopying, Sendable {
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

  public static var supportsSecureCoding: Bool { true }

  public init?(coder: NSCoder) {
    guard let recordID = coder.decodeOptional(CKRecordID.self, forKey: "recordID") else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    self.recordID = recordID
    action =
      CKRecord.ReferenceAction(rawValue: UInt(clamping: coder.decodeInteger(forKey: "action")))
      ?? CKRecord.ReferenceAction.none
  }

  public func encode(with coder: NSCoder) {
    coder.encode(recordID, forKey: "recordID")
    coder.encode(Int(action.rawValue), forKey: "action")
  }

  public func copy(with zone: NSZone? = nil) -> Any { self }

  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKReference else { return false }
    return recordID == other.recordID && action == other.action
  }

  public override var hash: Int { recordID.hash }

  public override var description: String {
    "<CKReference: \(recordID.recordName), zone \(recordID.zoneID.zoneName):\(recordID.zoneID.ownerName)>"
  }
}
