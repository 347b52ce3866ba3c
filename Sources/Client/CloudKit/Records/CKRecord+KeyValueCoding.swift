#if !canImport(ObjectiveC)
/// The methods of key-value coding that programs use on records. Foundation on Linux lacks them.
extension CKRecord {
  /// The value of a field, or of a property of the record such as `recordID`; nil when it has none.
  public func value(forKey key: FieldKey) -> Any? {
    object(forKey: key) ?? property(named: key)
  }

  /// The value at the end of a path: `creatorUserRecordID.recordName`, or `album.recordID.recordName`
  /// with a field that holds a reference.
  ///
  /// - Precondition: each part but the first names a property of a record, of an ID or of a
  ///   reference.
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

  /// The values of these fields; `NSNull` where the record has none.
  public func dictionaryWithValues(forKeys keys: [FieldKey]) -> [String: Any] {
    Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { $1 })
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

  /// Removes a field's value.
  public func setNilValueForKey(_ key: FieldKey) {
    setObject(nil, forKey: key)
  }

  public func setValuesForKeys(_ keyedValues: [String: Any]) {
    for (key, value) in keyedValues { setValue(value, forKey: key) }
  }
}

/// An object whose properties can be reached by their names, which Swift offers on Linux for none.
private protocol PropertyHolder {
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
