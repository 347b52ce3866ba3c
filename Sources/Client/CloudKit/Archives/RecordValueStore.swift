/// The fields of a record in an archive, in the layout of Apple's class `CKRecordValueStore`.
///
/// Apple's also keeps what changed fields were before (`OriginalValues`); a record from an archive
/// has no such memory here, and the list is written empty.
class RecordValueStore: NSObject, NSSecureCoding {
  let fields: [CKRecord.FieldKey: any CKRecordValueProtocol]
  let changedKeys: Set<CKRecord.FieldKey>

  init(
    fields: [CKRecord.FieldKey: any CKRecordValueProtocol], changedKeys: Set<CKRecord.FieldKey>
  ) {
    self.fields = fields
    self.changedKeys = changedKeys
  }

  class var supportsSecureCoding: Bool { true }

  required init?(coder: NSCoder) {
    let values = coder.decodeObject(
      of: RecordFieldValue.archivedClasses, forKey: "RecordValues")
    guard let archive = values as? NSDictionary,
      let fields = RecordFieldValue.fields(of: archive)
    else {
      coder.failWithError(CocoaError(.coderReadCorrupt))
      return nil
    }
    self.fields = fields
    let keys = coder.decodeObject(of: [NSSet.self, NSString.self], forKey: "ChangedKeys")
    changedKeys = Set((keys as? Set<String> ?? []).map { ArchivedText.original($0) })
  }

  func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encode(RecordFieldValue.archive(fields), forKey: "RecordValues")
    coder.encode(NSDictionary(), forKey: "OriginalValues")
    coder.encode(
      NSSet(array: changedKeys.sorted().map { ArchivedText.escaped($0) as NSString }),
      forKey: "ChangedKeys")
  }
}

/// The fields that were set through `encryptedValues`, in the layout of Apple's class
/// `CKEncryptedRecordValueStore`.
final class EncryptedRecordValueStore: RecordValueStore {}
