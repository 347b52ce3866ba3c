/// The fields of a record in an archive, in the layout of Apple's class `CKRecordValueStore`.
///
/// Apple's class also stores the former values of changed fields under `OriginalValues`. This class
/// writes an empty dictionary there, and does not read it.
class RecordValueStore: NSObject, NSSecureCoding {
  let fields: [CKRecord.FieldKey: any CKRecordValueProtocol]
  /// The names of the fields that have changed since the record was fetched or saved.
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
