import CommandInterface
import Settings

extension TextStyle {
  /// A text in the colour of a mark.
  func marked(_ text: String, _ mark: Finding.Mark) -> String {
    switch mark {
    case .ok: good(text)
    case .warning: doubtful(text)
    case .problem: alarming(text)
    }
  }
}
