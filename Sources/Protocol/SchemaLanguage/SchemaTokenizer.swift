/// A splitter of a schema text into tokens. The tokenizer skips white space and comments: `//`,
/// `--` and `/* */`.
struct SchemaTokenizer {
  /// The Unicode scalars of the text.
  private let text: [Unicode.Scalar]
  private var position = 0
  /// The line of the next scalar, from 1.
  private var line = 1
  /// The column of the next scalar, from 1. It counts scalars, so a tab counts as one.
  private var column = 1

  /// Prepares a text. A byte order mark at its beginning is skipped.
  init(_ text: String) {
    self.text = Array(text.unicodeScalars)
    // The mark does not count as a column.
    if self.text.first == "\u{FEFF}" { position = 1 }
  }

  /// Returns the tokens in their order. The last one is ``SchemaToken/Kind/end``.
  ///
  /// - Throws: ``SchemaSyntaxError`` for an unknown character, and for a comment or a name in
  ///   quotes without an end.
  static func tokens(of text: String) throws(SchemaSyntaxError) -> [SchemaToken] {
    var tokenizer = SchemaTokenizer(text)
    var tokens: [SchemaToken] = []
    repeat {
      tokens.append(try tokenizer.next())
    } while tokens.last?.kind != .end
    return tokens
  }

  private mutating func next() throws(SchemaSyntaxError) -> SchemaToken {
    try skipSpaceAndComments()
    var token = SchemaToken(kind: .end, line: line, column: column)
    guard let scalar = peek() else { return token }
    switch scalar {
    case "(", ")", "<", ">", ",", ";":
      advance()
      token.kind = .mark(scalar)
    case "\"":
      token.kind = .quoted(try quotedName())
    case _ where Self.isWordScalar(scalar):
      var word = String.UnicodeScalarView()
      while let scalar = peek(), Self.isWordScalar(scalar) {
        word.append(scalar)
        advance()
      }
      token.kind = .word(String(word))
    default:
      throw token.error("unexpected character '\(scalar)'")
    }
    return token
  }

  /// Consumes a name in double quotes and returns its content. The name must end on its line and
  /// cannot contain a quote.
  private mutating func quotedName() throws(SchemaSyntaxError) -> String {
    let start = SchemaToken(kind: .end, line: line, column: column)
    advance()
    var name = String.UnicodeScalarView()
    while let scalar = peek(), scalar != "\"" {
      guard scalar != "\n", scalar != "\r" else { break }
      name.append(scalar)
      advance()
    }
    guard peek() == "\"" else { throw start.error("this quoted name has no closing '\"'") }
    advance()
    return String(name)
  }

  /// Skips white space and comments. Block comments do not nest.
  private mutating func skipSpaceAndComments() throws(SchemaSyntaxError) {
    while let scalar = peek() {
      switch (scalar, peek(1)) {
      case (" ", _), ("\t", _), ("\n", _), ("\r", _):
        advance()
      case ("/", "/"), ("-", "-"):
        while let scalar = peek(), scalar != "\n" { advance() }
      case ("/", "*"):
        let start = SchemaToken(kind: .end, line: line, column: column)
        advance()
        advance()
        while peek() != nil, !(peek() == "*" && peek(1) == "/") { advance() }
        guard peek() != nil else { throw start.error("this comment has no closing '*/'") }
        advance()
        advance()
      default:
        return
      }
    }
  }

  private func peek(_ offset: Int = 0) -> Unicode.Scalar? {
    position + offset < text.count ? text[position + offset] : nil
  }

  private mutating func advance() {
    if text[position] == "\n" {
      line += 1
      column = 1
    } else {
      column += 1
    }
    position += 1
  }

  private static func isWordScalar(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_": true
    default: false
    }
  }
}
