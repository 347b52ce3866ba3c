/// One result of a check of a configuration, or of a part that it depends on, for a person to read.
package struct Finding: Sendable, Hashable {
  /// The severity of a finding.
  package enum Mark: String, Sendable, CaseIterable {
    /// The checked item is right.
    case ok
    /// The server works, but the operator should change something.
    case warning
    /// The server does not work, or is not safe.
    case problem
  }

  /// The severity.
  package var mark: Mark
  /// The description of the result.
  package var text: String
  /// The remedy; `nil` if there is nothing to do.
  package var advice: String?

  private init(_ mark: Mark, _ text: String, _ advice: String? = nil) {
    (self.mark, self.text, self.advice) = (mark, text, advice)
  }

  /// Creates the finding that an item is right.
  package static func ok(_ text: String) -> Finding { Finding(.ok, text) }

  /// Creates a warning with its remedy.
  package static func warning(_ text: String, _ advice: String) -> Finding {
    Finding(.warning, text, advice)
  }

  /// Creates a problem with its remedy.
  package static func problem(_ text: String, _ advice: String) -> Finding {
    Finding(.problem, text, advice)
  }
}
