extension CKRecord {
  /// The record's encrypted fields.
  ///
  /// The encrypted fields are separate from the plain fields. The methods of the record show only
  /// the plain fields, and this object shows only the encrypted ones. In all records of a type, a
  /// field is either encrypted or plain; the server refuses a save that breaks this rule.
  ///
  /// The public database does not allow encrypted fields. An encrypted field cannot have an asset
  /// or a reference as its value; setting one stops the program. Encrypted fields cannot appear in
  /// predicates, sort descriptors or desired keys of notifications.
  ///
  /// - Important: Petrel stores that a field is encrypted, but does not encrypt the value. The
  ///   operator of the server can read the value. Encrypt the disk of the server's store.
  public var encryptedValues: any CKRecordKeyValueSetting & Sendable {
    EncryptedValues(of: self)
  }

  package var encryptedKeys: Set<FieldKey> {
    contents.withLock { $0.encryptedKeys }
  }

  /// The view of a record that shows its encrypted fields.
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
