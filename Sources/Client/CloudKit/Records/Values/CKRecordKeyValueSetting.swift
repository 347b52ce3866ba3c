/// Reading and writing a record's fields by name; the fields of a record and its encrypted values
/// are used alike.
///
/// ```swift
/// record["title"] = "Mona"
/// record["tags"] = ["art", "paint"]
/// record["year"] = nil
/// let title: String? = record["title"]
/// let tags = record["tags"] as? [String]
/// ```
public protocol CKRecordKeyValueSetting: NSObjectProtocol {
  /// The value of a field; nil when it has none.
  func object(forKey key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)?
  /// Sets a field's value; nil removes it. Marks the field as changed, even if the value is the same.
  func setObject(_ object: (any CKRecordValueProtocol)?, forKey key: CKRecord.FieldKey)
  /// The names of the fields that have a value, in alphabetical order.
  func allKeys() -> [CKRecord.FieldKey]
  /// The names of the fields that were set or removed since the record was fetched or saved, in
  /// alphabetical order.
  func changedKeys() -> [CKRecord.FieldKey]
}

extension CKRecordKeyValueSetting {
  /// The value of a field as the type that the context asks for; nil when it is of another type.
  public subscript<Value: CKRecordValueProtocol>(key: CKRecord.FieldKey) -> Value? {
    get { object(forKey: key) as? Value }
    set { setObject(newValue, forKey: key) }
  }

  public subscript(key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
    get { object(forKey: key) }
    set { setObject(newValue, forKey: key) }
  }
}
