import CommandInterface
import Settings

extension TextStyle {
  /// Returns the text in the colour of a mark: green, yellow or red.
  func marked(_ text: String, _ mark: Finding.Mark) -> String {
    switch mark {
    case .ok: good(text)
    case .warning: doubtful(text)
    case .problem: alarming(text)
    }
  }
}
