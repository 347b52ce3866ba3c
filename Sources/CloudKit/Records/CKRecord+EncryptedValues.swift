extension CKRecord {
  /// The fields that Apple's servers keep encrypted.
  ///
  /// - Important: Petrel's server keeps them as it keeps all other fields, so a value that was set
  ///   here can be read through the record as well, and after a fetch the two can't be told apart.
  ///   Not for the public database; not for assets and references.
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
      record.object(forKey: key)
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
