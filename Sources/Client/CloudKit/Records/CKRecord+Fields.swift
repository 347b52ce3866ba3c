extension CKRecord {
  /// Returns the value of a plain field, which is a field that is not encrypted. Nil if the field
  /// has no value or is encrypted; see ``encryptedValues``.
  public func object(forKey key: FieldKey) -> (any CKRecordValueProtocol)? {
    contents.withLock { $0.encryptedKeys.contains(key) ? nil : $0.fields[key] }
  }

  /// Sets the value of a plain field; nil removes the value.
  ///
  /// The field counts as changed even if the value is the same. A field that was encrypted becomes
  /// plain. The server checks names and types when the record is saved.
  public func setObject(_ object: (any CKRecordValueProtocol)?, forKey key: FieldKey) {
    contents.withLock { contents in
      contents.set(object, for: key)
      contents.encryptedKeys.remove(key)
    }
  }

  /// Returns the names of the plain fields that have a value, in alphabetical order.
  public func allKeys() -> [FieldKey] {
    contents.withLock { $0.plainFields.keys.sorted() }
  }

  /// Returns the names of the plain fields that were set since the record was fetched or saved, in
  /// alphabetical order. Removed fields are among them.
  public func changedKeys() -> [FieldKey] {
    contents.withLock { $0.changedKeys.subtracting($0.encryptedKeys).sorted() }
  }

  /// Returns the words of all plain fields whose value is a text. The texts are split at white
  /// space. The words are in the alphabetical order of the field names, and in one text in the
  /// order of the text.
  public func allTokens() -> [String] {
    let fields = contents.withLock { $0.plainFields }
    return fields.keys.sorted().flatMap { key in
      (fields[key] as? String)?.split(whereSeparator: \.isWhitespace).map(String.init) ?? []
    }
  }

  /// The reference to the record above this one in a hierarchy. Nil unless set.
  ///
  /// A share of a record also covers all records below it in the hierarchy. The parent must be in
  /// the zone of this record; otherwise the save fails with `invalidArguments`. The parent must
  /// exist or be saved in the same operation; otherwise the save fails with `referenceViolation`.
  ///
  /// - Precondition: The action of the reference is `.none`.
  public var parent: Reference? {
    get { contents.withLock { $0.parent } }
    set {
      requireArgument(
        newValue == nil || newValue?.action == ReferenceAction.none,
        "CKRecord: the action of a parent must be .none")
      contents.withLock { $0.setParent(newValue) }
    }
  }

  /// Sets the parent to a reference to this record, with action `.none`; nil removes the parent.
  public func setParent(_ parentRecord: CKRecord?) {
    setParent(parentRecord?.recordID)
  }

  /// Sets the parent to a reference to the record with this ID, with action `.none`; nil removes
  /// the parent.
  public func setParent(_ parentRecordID: ID?) {
    parent = parentRecordID.map { Reference(recordID: $0, action: .none) }
  }
}

extension CKRecord: Sequence {
  public func makeIterator() -> CKRecordKeyValueIterator {
    CKRecordKeyValueIterator(contents.withLock { $0.plainFields })
  }
}

/// The iterator over the plain fields of a record, in alphabetical order of their names.
///
/// ```swift
/// for (key, value) in record { print(key, value) }
/// ```
public struct CKRecordKeyValueIterator: IteratorProtocol {
  /// The fields that the iterator has not returned yet. The last element is the next to be
  /// returned.
  private var fields: [(CKRecord.FieldKey, any CKRecordValueProtocol)]

  init(_ fields: [CKRecord.FieldKey: any CKRecordValueProtocol]) {
    self.fields = fields.sorted { $0.key > $1.key }.map { ($0.key, $0.value) }
  }

  public mutating func next() -> (CKRecord.FieldKey, any CKRecordValueProtocol)? {
    fields.popLast()
  }
}
