extension CKRecord {
  /// The record's encrypted fields. They are apart from its other fields: neither view sees what is
  /// set through the other, and a field is either the one or the other for all records of a type.
  ///
  /// Not for the public database; not for assets and references; not in predicates, sort
  /// descriptors and desired keys of notifications.
  ///
  /// - Important: the mark is kept, the value is not encrypted end to end: whoever runs the server
  ///   can read it. Encrypt the disk that the server's store is on.
  public var encryptedValues: any CKRecordKeyValueSetting & Sendable {
    EncryptedValues(of: self)
  }

  /// The names of fields that were set through ``encryptedValues``.
  package var encryptedKeys: Set<FieldKey> {
    contents.withLock { $0.encryptedKeys }
  }

  private final class EncryptedValues: NSObject, CKRecordKeyValueSetting, Sendable {
    private let record: CKRecord

    init(of record: CKRecord) {
      self.record = record
    }

    func object(forKey key: FieldKey) -> (any CKRecordValueProtocol)? {
      record.contents.withLock { $0.encryptedKeys.contains(key) ? $0.fields[key] : nil }
    }

    func setObject(_ object: (any CKRecordValueProtocol)?, forKey key: FieldKey) {
      requireArgument(
        !(object is CKAsset) && !(object is CKReference),
        "CKRecord: the field '\(key)' cannot be encrypted: assets and references never are")
      record.contents.withLock { contents in
        contents.set(object, for: key)
        contents.encryptedKeys.insert(key)
      }
    }

    func allKeys() -> [FieldKey] {
      record.contents.withLock { contents in
        contents.encryptedKeys.filter { contents.fields[$0] != nil }.sorted()
      }
    }

    func changedKeys() -> [FieldKey] {
      record.contents.withLock { $0.encryptedKeys.intersection($0.changedKeys).sorted() }
    }
  }
}
