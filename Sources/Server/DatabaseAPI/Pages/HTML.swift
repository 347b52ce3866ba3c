/// A piece of HTML. Interpolated texts are escaped; literals and other pieces are added unchanged.
///
/// ```swift
/// let name = "<Anna>"
/// let item: HTML = "<p title=\"\(name)\">\(name)</p>"
/// // <p title="&lt;Anna&gt;">&lt;Anna&gt;</p>
/// ```
///
/// Put attributes in quotation marks. Never interpolate text into a script, a style or a comment,
/// where escapes have no meaning.
package struct HTML: Sendable, Hashable, ExpressibleByStringInterpolation {
  package let text: String

  /// Creates a piece from a literal, which is not escaped.
  package init(stringLiteral text: String) {
    self.text = text
  }

  package init(stringInterpolation: Interpolation) {
    text = stringInterpolation.text
  }

  /// The builder of an interpolated piece. Swift calls it for each part of the literal.
  package struct Interpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    /// Creates an empty builder, with space for the literals and 32 bytes for each interpolation.
    package init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount * 32)
    }

    package mutating func appendLiteral(_ literal: String) {
      text += literal
    }

    /// Adds a text with its special characters escaped.
    package mutating func appendInterpolation(_ text: String) {
      self.text += HTML.escaped(text)
    }

    /// Adds a piece unchanged.
    package mutating func appendInterpolation(_ html: HTML) {
      text += html.text
    }

    /// Adds pieces unchanged, one after the other.
    package mutating func appendInterpolation(_ pieces: [HTML]) {
      for piece in pieces { text += piece.text }
    }
  }

  /// Returns the text with references in place of the five characters that have a meaning in HTML.
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
