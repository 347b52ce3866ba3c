import CommandInterface
import Settings

extension TextStyle {
  /// Returns the text in the colour of a mark: green for `ok`, yellow for `warning`, red for
  /// `problem`.
  func marked(_ text: String, _ mark: Finding.Mark) -> String {
    switch mark {
    case .ok: good(text)
    case .warning: doubtful(text)
    case .problem: alarming(text)
    }
  }
}
