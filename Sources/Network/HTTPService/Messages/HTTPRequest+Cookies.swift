extension HTTPRequest {
  /// Returns the cookies of a `Cookie` header field, in order (RFC 6265 section 4.2.1); empty for
  /// `nil`. Parts that are not a pair of name and value are left out.
  ///
  /// The field is split by bytes. Another site of the same domain may set a cookie whose last byte
  /// combines with the following semicolon into one character, which would hide the next cookie.
  public static func cookies(in field: String?) -> [(name: String, value: String)] {
    (field ?? "").utf8.split(separator: UInt8(ascii: ";")).compactMap { cookie in
      let parts = cookie.split(separator: UInt8(ascii: "="), maxSplits: 1)
      guard parts.count == 2 else { return nil }
      let space = UInt8(ascii: " ")
      return (
        name: String(Substring(parts[0].drop { $0 == space })),
        value: String(Substring(parts[1].prefix { $0 != space }))
      )
    }
  }
}
