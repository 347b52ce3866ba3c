/// The coding of a record's texts in archives.
///
/// Foundation on Linux reads the text `$null` in an archive as `nil`, and drops such an element from an array or a
/// dictionary. The coding therefore appends `~` to `$null`, and one more `~` to a text that already has this form.
enum ArchivedText {
  private static let null = "$null"
  private static let mark: Character = "~"

  /// Returns the text to write to an archive.
  static func escaped(_ text: String) -> String {
    isNull(text) ? text + String(mark) : text
  }

  /// Returns the text of a record for a text read from an archive. A text without a mark, as in Apple's archives, stays
  /// as it is.
  static func original(_ text: String) -> String {
    isNull(text) && text.last == mark ? String(text.dropLast()) : text
  }

  /// Whether the text is `$null`, followed by any number of marks.
  private static func isNull(_ text: String) -> Bool {
    text.hasPrefix(null) && text.dropFirst(null.count).allSatisfy { $0 == mark }
  }
}
