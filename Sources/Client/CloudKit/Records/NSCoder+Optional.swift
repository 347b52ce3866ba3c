extension NSCoder {
  /// The object that was encoded for `key`, or else for `formerKey`, which earlier archives have; nil
  /// when there is none or it is of another class.
  ///
  /// Foundation on Linux takes a missing key for a decoding error, which ends the program or the
  /// decoding, so the key is looked for first. Only an unarchiver can tell: the coders that tests
  /// make to obtain objects without public initializers override nothing but `decodeObject(forKey:)`.
  func decodeOptional<Object: NSObject & NSCoding>(
    _ type: Object.Type, forKey key: String, _ formerKey: String? = nil
  ) -> Object? {
    guard self is NSKeyedUnarchiver else { return decodeObject(forKey: key) as? Object }
    guard containsValue(forKey: key) else {
      return formerKey.flatMap { decodeOptional(type, forKey: $0) }
    }
    return decodeObject(of: type, forKey: key)
  }

  func decodeOptionalString(forKey key: String, _ formerKey: String? = nil) -> String? {
    decodeOptional(NSString.self, forKey: key, formerKey).map { String($0) }
  }

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
