/// What one look has shown, for people.
struct Finding: Sendable, Hashable {
  enum Mark: String, Sendable, CaseIterable {
    case ok
    /// The server works, but something should be done.
    case warning
    /// The server does not work, or is not safe.
    case problem
  }

  var mark: Mark
  var text: String
  /// What to do; nil where all is well.
  var advice: String?

  static func ok(_ text: String) -> Finding { Finding(mark: .ok, text: text) }

  static func warning(_ text: String, _ advice: String) -> Finding {
    Finding(mark: .warning, text: text, advice: advice)
  }

  static func problem(_ text: String, _ advice: String) -> Finding {
    Finding(mark: .problem, text: text, advice: advice)
  }
}
