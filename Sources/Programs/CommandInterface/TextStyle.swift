import Foundation

/// The emphasis and colour of texts for people. Texts stay plain if the output is no terminal, or
/// because of an environment variable: `TERM` is missing, empty or `dumb`, or `NO_COLOR`
/// (https://no-color.org) is not empty.
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

  /// Returns the text with an escape sequence before and after.
  ///
  /// - Parameter code: The parameters of SGR (Select Graphic Rendition, ECMA-48), without `CSI` and
  ///   the final `m`.
  private func styled(_ text: String, _ code: String) -> String {
    isPlain ? text : "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }
}
