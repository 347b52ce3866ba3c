import CloudKitModel

/// The parser of the `Retry-After` header field (RFC 9110, section 10.2.3).
enum RetryAfter {
  /// Returns the seconds that a peer asks the sender to wait. The text is a number of seconds, or a
  /// date; a past date gives 0. `nil` for other texts.
  static func seconds(_ text: String, at now: Timestamp) -> Double? {
    if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return Double(text) }
    return HTTPDate.seconds(text).map { max(0, $0 - now.seconds) }
  }
}
