/// A piece of a page. Text that is put into it is escaped; only literals and other pieces are not.
///
/// ```swift
/// let name = "<Anna>"
/// let item: HTML = "<p title=\"\(name)\">\(name)</p>"
/// // <p title="&lt;Anna&gt;">&lt;Anna&gt;</p>
/// ```
/// Attributes must stand in quotation marks. Never put text into a script, a style or a comment:
/// escapes mean nothing there.
package struct HTML: Sendable, Hashable, ExpressibleByStringInterpolation {
  package let text: String

  package init(stringLiteral text: String) {
    self.text = text
  }

  package init(stringInterpolation: Interpolation) {
    text = stringInterpolation.text
  }

  package struct Interpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    package init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount * 32)
    }

    package mutating func appendLiteral(_ literal: String) {
      text += literal
    }

    package mutating func appendInterpolation(_ text: String) {
      self.text += HTML.escaped(text)
    }

    package mutating func appendInterpolation(_ html: HTML) {
      text += html.text
    }

    package mutating func appendInterpolation(_ pieces: [HTML]) {
      for piece in pieces { text += piece.text }
    }
  }

  /// The text with references in place of the five characters that mean something in HTML.
  private static func escaped(_ text: String) -> String {
    var result = ""
    result.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
