/// The methods of key-value coding that programs use on records. Foundation on Linux lacks them.
extension CKRecord {
  /// The value of a field; nil when it has none.
  public func value(forKey key: FieldKey) -> Any? {
    object(forKey: key)
  }

  /// Sets a field's value; nil removes it.
  ///
  /// - Precondition: the value is one that records can hold.
  public func setValue(_ value: Any?, forKey key: FieldKey) {
    guard let value, !(value is NSNull) else {
      setObject(nil, forKey: key)
      return
    }
    // An array of Any is no record value by its type, though its elements may be.
    let object =
      (value as? any CKRecordValueProtocol) ?? (value as? [Any]).map(NSArray.init(array:))
    guard let object else {
      stopForInvalidArgument(
        "CKRecord: the field '\(key)' cannot hold a value of type \(type(of: value))")
    }
    setObject(object, forKey: key)
  }

  public func setValuesForKeys(_ keyedValues: [String: Any]) {
    for (key, value) in keyedValues { setValue(value, forKey: key) }
  }
}
