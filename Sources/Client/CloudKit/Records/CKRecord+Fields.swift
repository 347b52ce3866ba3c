extension CKRecord {
  public func object(forKey key: FieldKey) -> (any CKRecordValueProtocol)? {
    contents.withLock { $0.encryptedKeys.contains(key) ? nil : $0.fields[key] }
  }

  public func setObject(_ object: (any CKRecordValueProtocol)?, forKey key: FieldKey) {
    contents.withLock { contents in
      contents.set(object, for: key)
      contents.encryptedKeys.remove(key)
    }
  }

  public func allKeys() -> [FieldKey] {
    contents.withLock { $0.plainFields.keys.sorted() }
  }

  public func changedKeys() -> [FieldKey] {
    contents.withLock { $0.changedKeys.subtracting($0.encryptedKeys).sorted() }
  }

  /// All string fields, split at white space, in alphabetical order of their names.
  public func allTokens() -> [String] {
    let fields = contents.withLock { $0.plainFields }
    return fields.keys.sorted().flatMap { key in
      (fields[key] as? String)?.split(whereSeparator: \.isWhitespace).map(String.init) ?? []
    }
  }

  /// The record above this one in a hierarchy that is shared as a whole.
  ///
  /// - Precondition: the reference's action is `.none`.
  public var parent: Reference? {
    get { contents.withLock { $0.parent } }
    set {
      requireArgument(
        newValue == nil || newValue?.action == ReferenceAction.none,
        "CKRecord: the action of a parent must be .none")
      contents.withLock { contents in
        contents.parent = newValue
        contents.isParentChanged = true
      }
    }
  }

  public func setParent(_ parentRecord: CKRecord?) {
    setParent(parentRecord?.recordID)
  }

  public func setParent(_ parentRecordID: ID?) {
    parent = parentRecordID.map { Reference(recordID: $0, action: .none) }
  }
}

extension CKRecord: Sequence {
  public func makeIterator() -> CKRecordKeyValueIterator {
    CKRecordKeyValueIterator(contents.withLock { $0.plainFields })
  }
}

/// The fields of a record one after the other, in alphabetical order of their names.
public struct CKRecordKeyValueIterator: IteratorProtocol {
  private var fields: [(CKRecord.FieldKey, any CKRecordValueProtocol)]

  init(_ fields: [CKRecord.FieldKey: any CKRecordValueProtocol]) {
    self.fields = fields.sorted { $0.key > $1.key }.map { ($0.key, $0.value) }
  }

  public mutating func next() -> (CKRecord.FieldKey, any CKRecordValueProtocol)? {
    fields.popLast()
  }
}
