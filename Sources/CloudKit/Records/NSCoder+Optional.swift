extension NSCoder {
  /// The object that was encoded for `key`; nil when there is none or it is of another class.
  ///
  /// Foundation on Linux takes a missing key for a decoding error, which ends the program or the
  /// decoding, so the key is looked for first.
  func decodeOptional<Object: NSObject & NSCoding>(
    _ type: Object.Type, forKey key: String
  ) -> Object? {
    guard containsValue(forKey: key) else { return nil }
    return decodeObject(of: type, forKey: key)
  }

  func decodeOptionalString(forKey key: String) -> String? {
    decodeOptional(NSString.self, forKey: key).map { String($0) }
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
