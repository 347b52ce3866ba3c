/// What a check of a configuration, or of what it depends on, has shown, for people.
package struct Finding: Sendable, Hashable {
  package enum Mark: String, Sendable, CaseIterable {
    case ok
    /// The server works, but something should be done.
    case warning
    /// The server does not work, or is not safe.
    case problem
  }

  package var mark: Mark
  package var text: String
  /// What to do; nil where all is well.
  package var advice: String?

  private init(_ mark: Mark, _ text: String, _ advice: String? = nil) {
    (self.mark, self.text, self.advice) = (mark, text, advice)
  }

  package static func ok(_ text: String) -> Finding { Finding(.ok, text) }

  package static func warning(_ text: String, _ advice: String) -> Finding {
    Finding(.warning, text, advice)
  }

  package static func problem(_ text: String, _ advice: String) -> Finding {
    Finding(.problem, text, advice)
  }
}
