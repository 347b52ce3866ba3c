extension HTTPRequest {
  /// The cookies in the header field of that name, in order (RFC 6265, section 4.2.1); none where there is
  /// no field. What is no pair is left out.
  ///
  /// The field is cut among its bytes: another site of the same domain may set a cookie whose last
  /// character would take the semicolon behind it, and with that the next cookie.
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
