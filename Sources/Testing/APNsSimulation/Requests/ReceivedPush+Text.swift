extension ReceivedPush: CustomStringConvertible {
  /// Two lines for a person to read. The first has the time, the result and the device, and the
  /// second the payload. Without a payload there is one line.
  ///
  /// ```
  /// 2026-03-01T09:30:00.120Z  200  alert, priority 10, com.example.app → 0a1b2c3d4e5f…
  ///     {"aps":{"alert":"New artwork"},"ck":{…}}
  /// ```
  public var description: String {
    var line = time.iso8601 + "  "
    line += [status.map { String($0) } ?? "no answer", reason].compactMap { $0 }
      .joined(separator: " ")
    line += "  " + (headers["apns-push-type"] ?? "no push type")
    if let priority = headers["apns-priority"] { line += ", priority " + priority }
    line += ", " + (headers["apns-topic"] ?? "no topic") + " → " + shortToken
    if let note { line += " (" + note + ")" }
    return payload.isEmpty ? line : line + "\n    " + payload
  }

  private var shortToken: String {
    guard let deviceToken else { return "no device" }
    return deviceToken.count > 16 ? deviceToken.prefix(12) + "…" : deviceToken
  }
}
