#if !canImport(ObjectiveC)
/// The methods of key-value coding that programs use on records. Foundation on Linux does not have
/// them.
extension CKRecord {
  /// Returns the value of a plain (not encrypted) field, or of a property such as `recordID`. Nil
  /// if there is no value.
  public func value(forKey key: FieldKey) -> Any? {
    object(forKey: key) ?? property(named: key)
  }

  /// Returns the value at the end of a key path.
  ///
  /// Examples are `creatorUserRecordID.recordName`, and `album.recordID.recordName` for a field
  /// that holds a reference. The result is nil if a value on the path is nil.
  ///
  /// - Precondition: Each value on the path, except the last, is a record ID, a zone ID or a
  ///   reference. At a value of another type, the program stops.
  public func value(forKeyPath keyPath: String) -> Any? {
    let keys = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    var object = value(forKey: keys[0])
    for key in keys.dropFirst() {
      guard let current = object else { return nil }
      guard let holder = current as? any PropertyHolder else {
        stopForInvalidArgument(
          "CKRecord: the key path '\(keyPath)' leads through a \(type(of: current)), which has no "
            + "'\(key)'")
      }
      object = holder.property(named: key)
    }
    return object
  }

  /// Returns the values of the named fields and properties, with `NSNull` for those that have no
  /// value.
  public func dictionaryWithValues(forKeys keys: [FieldKey]) -> [String: Any] {
    Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { $1 })
  }

  /// Sets the value of a plain field; nil or `NSNull` removes it.
  ///
  /// - Precondition: The value has a type that a record can hold. Otherwise the program stops.
  public func setValue(_ value: Any?, forKey key: FieldKey) {
    guard let value, !(value is NSNull) else {
      setObject(nil, forKey: key)
      return
    }
    // The type `[Any]` is no record value, even if all elements are.
    let object =
      (value as? any CKRecordValueProtocol) ?? (value as? [Any]).map(NSArray.init(array:))
    guard let object else {
      stopForInvalidArgument(
        "CKRecord: the field '\(key)' cannot hold a value of type \(type(of: value))")
    }
    setObject(object, forKey: key)
  }

  /// Removes the value of a field.
  public func setNilValueForKey(_ key: FieldKey) {
    setObject(nil, forKey: key)
  }

  /// Sets several fields, each as in ``setValue(_:forKey:)``.
  public func setValuesForKeys(_ keyedValues: [String: Any]) {
    for (key, value) in keyedValues { setValue(value, forKey: key) }
  }
}

/// An object that returns its properties by name. Foundation on Linux has no such lookup.
private protocol PropertyHolder {
  /// Returns the value of a property. Nil if the property has no value or does not exist.
  func property(named name: String) -> Any?
}

extension CKRecord: PropertyHolder {
  fileprivate func property(named name: String) -> Any? {
    switch name {
    case "recordType": recordType
    case "recordID": recordID
    case "recordChangeTag": recordChangeTag
    case "creatorUserRecordID": creatorUserRecordID
    case "creationDate": creationDate
    case "lastModifiedUserRecordID": lastModifiedUserRecordID
    case "modificationDate": modificationDate
    case "parent": parent
    case "share": share
    default: nil
    }
  }
}

extension CKRecord.ID: PropertyHolder {
  fileprivate func property(named name: String) -> Any? {
    switch name {
    case "recordName": recordName
    case "zoneID": zoneID
    default: nil
    }
  }
}

extension CKRecordZone.ID: PropertyHolder {
  fileprivate func property(named name: String) -> Any? {
    switch name {
    case "zoneName": zoneName
    case "ownerName": ownerName
    default: nil
    }
  }
}

extension CKRecord.Reference: PropertyHolder {
  fileprivate func property(named name: String) -> Any? {
    switch name {
    case "recordID": recordID
    case "action": NSNumber(value: action.rawValue)
    default: nil
    }
  }
}
#endif
