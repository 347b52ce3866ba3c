/// A token of a schema text with its place.
struct SchemaToken: Equatable {
  /// The kind of a token with its text.
  enum Kind: Equatable {
    /// A keyword, or a name without quotes.
    case word(String)
    /// The content of a name in double quotes.
    case quoted(String)
    /// One of `( ) < > , ;`.
    case mark(Unicode.Scalar)
    case end
  }

  var kind: Kind
  /// The number of the line, from 1.
  var line: Int
  /// The column in the line, from 1, in Unicode scalars.
  var column: Int

  var shown: String {
    switch kind {
    case .word(let word): "'\(word)'"
    case .quoted(let name): "'\"\(name)\"'"
    case .mark(let mark): "'\(mark)'"
    case .end: "the end of the text"
    }
  }

  /// Returns whether the token is this keyword, in any case. A name in quotes is never a keyword.
  ///
  /// - Parameter keyword: The keyword in upper case.
  func isKeyword(_ keyword: String) -> Bool {
    if case .word(let word) = kind { return word.uppercased() == keyword }
    return false
  }

  func error(_ reason: String) -> SchemaSyntaxError {
    SchemaSyntaxError(line: line, column: column, reason)
  }
}
