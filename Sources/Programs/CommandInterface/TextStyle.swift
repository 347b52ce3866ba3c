import Foundation

/// Emphasis and colour in what people read: on terminals only, and not where `NO_COLOR`
/// (https://no-color.org) or `TERM=dumb` asks for plain text.
package struct TextStyle: Sendable {
  package let isPlain: Bool

  package static let output = TextStyle(of: STDOUT_FILENO)
  package static let errors = TextStyle(of: STDERR_FILENO)

  package init(
    of descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    isPlain =
      isatty(descriptor) != 1 || !(environment["NO_COLOR"] ?? "").isEmpty
      || ["", "dumb"].contains(environment["TERM"] ?? "")
  }

  package func strong(_ text: String) -> String { styled(text, "1") }

  package func good(_ text: String) -> String { styled(text, "32") }

  package func doubtful(_ text: String) -> String { styled(text, "33") }

  package func alarming(_ text: String) -> String { styled(text, "1;31") }

  /// - Parameter code: what ECMA-48 has behind `CSI` for it (SGR).
  private func styled(_ text: String, _ code: String) -> String {
    isPlain ? text : "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }
}
