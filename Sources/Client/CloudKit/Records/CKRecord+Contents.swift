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
      var encryptedKeys: Set<FieldKey> = []
    }

    /// The fields without the encrypted ones.
    var plainFields: [FieldKey: any CKRecordValueProtocol] {
      encryptedKeys.isEmpty ? fields : fields.filter { !encryptedKeys.contains($0.key) }
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
    guard coder.containsValue(forKey: "ValueStore") else {
      decodeFormerLayout(coder)
      return
    }
    isParentChanged = coder.decodeBool(forKey: "HasUpdatedParentReference")
    if let plain = coder.decodeOptional(RecordValueStore.self, forKey: "ValueStore") {
      fields = plain.fields
      changedKeys = plain.changedKeys
    }
    let key = "EncryptedValueStore"
    if let encrypted = coder.decodeOptional(EncryptedRecordValueStore.self, forKey: key) {
      fields.merge(encrypted.fields) { plain, _ in plain }
      changedKeys.formUnion(encrypted.changedKeys)
      encryptedKeys = Set(encrypted.fields.keys).union(encrypted.changedKeys)
    }
  }

  /// Reads what versions before the one with Apple's layout wrote; a record's system fields alone have
  /// none of it.
  private mutating func decodeFormerLayout(_ coder: NSCoder) {
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
    coder.encode(isParentChanged, forKey: "HasUpdatedParentReference")
    coder.encode(
      RecordValueStore(
        fields: fields.filter { !encryptedKeys.contains($0.key) },
        changedKeys: changedKeys.subtracting(encryptedKeys)), forKey: "ValueStore")
    coder.encode(
      EncryptedRecordValueStore(
        fields: fields.filter { encryptedKeys.contains($0.key) },
        changedKeys: changedKeys.intersection(encryptedKeys)), forKey: "EncryptedValueStore")
  }
}
