extension NSCoder {
  /// Decodes the object under `key`. If the archive does not have this key, decodes the object
  /// under `formerKey`, the key in archives of earlier versions of Petrel.
  ///
  /// The method checks first that the archive has the key, because Foundation on Linux treats a
  /// missing key as an error. That error ends the decoding or the program. Only `NSKeyedUnarchiver`
  /// can check for a key. Tests define other coders to make objects without public initializers;
  /// those coders override only `decodeObject(forKey:)`.
  ///
  /// - Returns: Nil if there is no object, or one of another class.
  func decodeOptional<Object: NSObject & NSCoding>(
    _ type: Object.Type, forKey key: String, _ formerKey: String? = nil
  ) -> Object? {
    guard self is NSKeyedUnarchiver else { return decodeObject(forKey: key) as? Object }
    guard containsValue(forKey: key) else {
      return formerKey.flatMap { decodeOptional(type, forKey: $0) }
    }
    return decodeObject(of: type, forKey: key)
  }

  /// Decodes the text under `key`, or under `formerKey` if `key` is missing; nil if there is none.
  func decodeOptionalString(forKey key: String, _ formerKey: String? = nil) -> String? {
    decodeOptional(NSString.self, forKey: key, formerKey).map { String($0) }
  }

  /// Decodes the number under `key`, or under `formerKey` if `key` is missing; 0 if there is none.
  func decodeInteger(forKey key: String, _ formerKey: String) -> Int {
    decodeInteger(forKey: containsValue(forKey: key) ? key : formerKey)
  }

  func decodeOptionalStrings(forKey key: String) -> [String]? {
    guard containsValue(forKey: key) else { return nil }
    return decodeObject(of: [NSArray.self, NSString.self], forKey: key) as? [String]
  }

  func encodeOptional(_ string: String?, forKey key: String) {
    guard let string else { return }
    encode(string as NSString, forKey: key)
  }

  func encodeOptional(_ strings: [String]?, forKey key: String) {
    guard let strings else { return }
    encode(NSArray(array: strings.map { $0 as NSString }), forKey: key)
  }
}
