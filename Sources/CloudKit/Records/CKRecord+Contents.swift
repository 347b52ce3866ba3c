extension CKRecord {
  /// The part of a record that changes.
  struct Contents {
    var fields: [FieldKey: any CKRecordValueProtocol] = [:]
    var changedKeys: Set<FieldKey> = []
    /// The fields that were set through `encryptedValues`.
    var encryptedKeys: Set<FieldKey> = []
    var parent: Reference?
    var isParentChanged = false
    /// What the server returned; nil for records that are new or come from an archive.
    var fetched: Fetched?

    struct Fetched {
      var fields: [FieldKey: any CKRecordValueProtocol]
      var parent: Reference?
    }

    mutating func set(_ value: (any CKRecordValueProtocol)?, for key: FieldKey) {
      fields[key] = value.map { RecordFieldValue.canonical($0) }
      changedKeys.insert(key)
    }
  }
}

extension CKRecord.Contents {
  init(coder: NSCoder) {
    parent = coder.decodeOptional(CKReference.self, forKey: "ParentReference", "parent")
    isParentChanged = coder.decodeBool(forKey: "isParentChanged")
    changedKeys = Set(coder.decodeOptionalStrings(forKey: "changedKeys") ?? [])
    encryptedKeys = Set(coder.decodeOptionalStrings(forKey: "encryptedKeys") ?? [])
    guard coder.containsValue(forKey: "fields") else { return }
    guard
      let archive = coder.decodeObject(of: RecordFieldValue.archivedClasses, forKey: "fields")
        as? NSDictionary,
      let fields = RecordFieldValue.fields(of: archive)
    else {
      coder.failWithError(CocoaError(.coderReadCorrupt))
      return
    }
    self.fields = fields
  }

  func encodeFields(with coder: NSCoder) {
    coder.encode(isParentChanged, forKey: "isParentChanged")
    coder.encodeOptional(changedKeys.sorted(), forKey: "changedKeys")
    coder.encodeOptional(encryptedKeys.sorted(), forKey: "encryptedKeys")
    coder.encode(RecordFieldValue.archive(fields), forKey: "fields")
  }
}
