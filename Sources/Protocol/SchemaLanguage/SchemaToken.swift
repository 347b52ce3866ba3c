/// A piece of a schema text, with its place.
struct SchemaToken: Equatable {
  enum Kind: Equatable {
    /// A keyword or a name without quotes.
    case word(String)
    /// A name in double quotes, without them.
    case quoted(String)
    /// One of `( ) < > , ;`.
    case mark(Unicode.Scalar)
    case end
  }

  var kind: Kind
  var line: Int
  var column: Int

  /// The token as errors show it.
  var shown: String {
    switch kind {
    case .word(let word): "'\(word)'"
    case .quoted(let name): "'\"\(name)\"'"
    case .mark(let mark): "'\(mark)'"
    case .end: "the end of the text"
    }
  }

  /// Whether the token is this keyword; case does not count, and a quoted name is none.
  func isKeyword(_ keyword: String) -> Bool {
    if case .word(let word) = kind { return word.uppercased() == keyword }
    return false
  }

  func error(_ reason: String) -> SchemaSyntaxError {
    SchemaSyntaxError(line: line, column: column, reason)
  }
}
