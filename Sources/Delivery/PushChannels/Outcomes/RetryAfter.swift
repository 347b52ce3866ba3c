import CloudKitModel

/// The parser of the `Retry-After` header field (RFC 9110, section 10.2.3).
enum RetryAfter {
  /// Returns the seconds that a peer asks to wait: a number, or the time until a date; 0 for a past
  /// date. `nil` for other texts.
  static func seconds(_ text: String, at now: Timestamp) -> Double? {
    if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return Double(text) }
    return HTTPDate.seconds(text).map { max(0, $0 - now.seconds) }
  }
}
