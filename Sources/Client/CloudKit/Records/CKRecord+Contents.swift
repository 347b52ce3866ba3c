extension CKRecord {
  /// The part of a record that can change after the record was made.
  struct Contents {
    var system = SystemFields()
    /// The values of all fields, also of encrypted ones, as ``RecordFieldValue/canonical(_:)``
    /// returns them.
    var fields: [FieldKey: any CKRecordValueProtocol] = [:]
    /// The fields that were set or removed since the record was fetched or saved.
    var changedKeys: Set<FieldKey> = []
    /// The fields that were set through ``CKRecord/encryptedValues``: the encrypted fields.
    var encryptedKeys: Set<FieldKey> = []
    var parent: Reference?
    /// Whether the program set or removed the parent since the record was fetched or saved.
    var isParentChanged = false
    /// The reference to the record's share; nil for none. A new ``CKShare`` sets it on its root.
    var share: Reference?
    /// The number of times that the program set a field or the parent of this object.
    private(set) var editCount = 0
    /// The contents as the server returned them. Nil for new records, and for records from an
    /// archive without ``CKRecord/setAncestor(_:)``.
    var fetched: Fetched?

    /// The contents of a record as the server returned them.
    struct Fetched {
      var fields: [FieldKey: any CKRecordValueProtocol]
      var parent: Reference?
      var share: Reference?
      var encryptedKeys: Set<FieldKey> = []
    }

    /// The fields that are not encrypted.
    var plainFields: [FieldKey: any CKRecordValueProtocol] {
      encryptedKeys.isEmpty ? fields : fields.filter { !encryptedKeys.contains($0.key) }
    }

    /// Sets a field, or removes it with nil. The field counts as changed even if the value is the
    /// same.
    mutating func set(_ value: (any CKRecordValueProtocol)?, for key: FieldKey) {
      fields[key] = value.map { RecordFieldValue.canonical($0) }
      changedKeys.insert(key)
      editCount += 1
    }

    /// Sets the parent, or removes it with nil. The parent counts as changed even if it is the same.
    mutating func setParent(_ parent: Reference?) {
      self.parent = parent
      isParentChanged = true
      editCount += 1
    }
  }
}

extension CKRecord.Contents {
  /// Decodes the contents from a record's archive, in the layout of Apple's framework or in that of
  /// earlier versions of Petrel.
  init(coder: NSCoder) {
    system = CKRecord.SystemFields(coder: coder)
    parent = coder.decodeOptional(CKReference.self, forKey: "ParentReference", "parent")
    share = coder.decodeOptional(CKReference.self, forKey: "ShareReference", "share")
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

  /// Decodes the layout that earlier versions of Petrel wrote. An archive of only the system fields
  /// has none of these keys, and gives a record without fields.
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

  /// Encodes the fields in Apple's layout. The plain and the encrypted fields are separate.
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
