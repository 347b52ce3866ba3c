/// One result of the checks of a configuration and of the parts that it depends on, for a person to
/// read.
package struct Finding: Sendable, Hashable {
  /// The severity of a finding.
  package enum Mark: String, Sendable, CaseIterable {
    case ok
    /// The server works, but the operator should change something.
    case warning
    /// The server does not work, or is not safe.
    case problem
  }

  package var mark: Mark
  package var text: String
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
