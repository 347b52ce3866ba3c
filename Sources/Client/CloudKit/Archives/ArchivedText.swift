/// The coding of a record's texts in archives.
///
/// Foundation on Linux reads the text `$null` in an archive as `nil`. It leaves such an element out of an array or a
/// dictionary. The coding therefore appends the mark `~` to `$null`. A text that consists of `$null` and marks gets one
/// more mark.
enum ArchivedText {
  private static let null = "$null"
  private static let mark: Character = "~"

  static func escaped(_ text: String) -> String {
    isNull(text) ? text + String(mark) : text
  }

  /// Returns the original of a text that was read from an archive. A text without a mark, as in Apple's archives, is
  /// returned unchanged.
  static func original(_ text: String) -> String {
    isNull(text) && text.last == mark ? String(text.dropLast()) : text
  }

  /// Whether the text is `$null`, followed by any number of marks.
  private static func isNull(_ text: String) -> Bool {
    text.hasPrefix(null) && text.dropFirst(null.count).allSatisfy { $0 == mark }
  }
}
