import Foundation

/// The emphasis and colour of texts for people. Texts stay plain if the output is no terminal, or
/// because of an environment variable: `TERM` is missing, empty or `dumb`, or `NO_COLOR`
/// (https://no-color.org) is not empty.
package struct TextStyle: Sendable {
  /// Whether texts stay without emphasis and colour.
  package let isPlain: Bool

  /// The style for standard output.
  package static let output = TextStyle(of: STDOUT_FILENO)
  /// The style for standard error.
  package static let errors = TextStyle(of: STDERR_FILENO)

  /// Creates the style for a file descriptor.
  package init(
    of descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    isPlain =
      isatty(descriptor) != 1 || !(environment["NO_COLOR"] ?? "").isEmpty
      || ["", "dumb"].contains(environment["TERM"] ?? "")
  }

  /// Returns the text in bold.
  package func strong(_ text: String) -> String { styled(text, "1") }

  /// Returns the text in green, for a good result.
  package func good(_ text: String) -> String { styled(text, "32") }

  /// Returns the text in yellow, for a warning.
  package func doubtful(_ text: String) -> String { styled(text, "33") }

  /// Returns the text in bold red, for an error.
  package func alarming(_ text: String) -> String { styled(text, "1;31") }

  /// Returns the text with an escape sequence before and after.
  ///
  /// - Parameter code: The parameters of SGR (Select Graphic Rendition, ECMA-48), without `CSI` and
  ///   the final `m`.
  private func styled(_ text: String, _ code: String) -> String {
    isPlain ? text : "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }
}
