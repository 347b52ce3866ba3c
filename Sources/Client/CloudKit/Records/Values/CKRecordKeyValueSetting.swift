/// An object with fields that can be read and set by name: a record, or the encrypted fields of a
/// record.
///
/// ```swift
/// record["title"] = "Mona"
/// record["tags"] = ["art", "paint"]
/// record["year"] = nil
/// let title: String? = record["title"]
/// let tags = record["tags"] as? [String]
/// ```
public protocol CKRecordKeyValueSetting: NSObjectProtocol {
  /// Returns the value of a field; nil if the field has none.
  func object(forKey key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)?
  /// Sets the value of a field; nil removes the value. The field counts as changed even if the
  /// value is the same.
  func setObject(_ object: (any CKRecordValueProtocol)?, forKey key: CKRecord.FieldKey)
  /// Returns the names of the fields that have a value, in alphabetical order.
  func allKeys() -> [CKRecord.FieldKey]
  /// Returns the names of the fields that were set or removed since the record was fetched or
  /// saved, in alphabetical order.
  func changedKeys() -> [CKRecord.FieldKey]
}

extension CKRecordKeyValueSetting {
  /// The value of a field, as the type that the caller expects. Reading gives nil if the field has
  /// no value or a value of another type. Setting nil removes the value.
  public subscript<Value: CKRecordValueProtocol>(key: CKRecord.FieldKey) -> Value? {
    get { object(forKey: key) as? Value }
    set { setObject(newValue, forKey: key) }
  }

  /// The value of a field, as any type. Reading gives numbers and Booleans as `NSNumber`. Setting
  /// nil removes the value.
  public subscript(key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
    get { object(forKey: key) }
    set { setObject(newValue, forKey: key) }
  }
}
