/// One result of the checks of a configuration and of the parts that it depends on, for a person to
/// read.
package struct Finding: Sendable, Hashable {
  /// The severity of a finding.
  package enum Mark: String, Sendable, CaseIterable {
    /// The checked item is in order.
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
  /// The advice for the operator; `nil` if there is nothing to do.
  package var advice: String?

  private init(_ mark: Mark, _ text: String, _ advice: String? = nil) {
    (self.mark, self.text, self.advice) = (mark, text, advice)
  }

  /// Creates the finding that an item is in order.
  package static func ok(_ text: String) -> Finding { Finding(.ok, text) }

  /// Creates a warning with its advice.
  package static func warning(_ text: String, _ advice: String) -> Finding {
    Finding(.warning, text, advice)
  }

  /// Creates a problem with its advice.
  package static func problem(_ text: String, _ advice: String) -> Finding {
    Finding(.problem, text, advice)
  }
}
