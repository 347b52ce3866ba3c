/// Texts of a record's fields as archives hold them.
///
/// Foundation on Linux takes the text `$null` in an archive for nil, and a dictionary or a list that
/// holds it for a shorter one. So that text gets a mark, and one more if it has some.
enum ArchivedText {
  private static let null = "$null"
  private static let mark: Character = "~"

  static func escaped(_ text: String) -> String {
    isNull(text) ? text + String(mark) : text
  }

  static func original(_ text: String) -> String {
    isNull(text) && text.last == mark ? String(text.dropLast()) : text
  }

  private static func isNull(_ text: String) -> Bool {
    text.hasPrefix(null) && text.dropFirst(null.count).allSatisfy { $0 == mark }
  }
}
