/// A token of a predicate format with its place.
struct PredicateToken: Equatable {
  /// The kind of a token with its text.
  enum Kind: Equatable {
    /// A key, a keyword, or the name of a function with its colons.
    case identifier(String)
    /// A key after `#`. It is never a keyword.
    case escapedIdentifier(String)
    /// The text of a number without a sign. A number that begins with `.` has a `0` in front.
    case number(String)
    /// The content of a string in quotes, after its escapes are resolved.
    case string(String)
    /// An operator or a punctuation mark.
    case symbol(String)
    /// A placeholder for an argument, such as `%@` or `%ld`. The value is its last letter, without
    /// the length letters.
    case argument(Character)
    case variable(String)
    case end
  }

  var kind: Kind
  /// The place of the token, in Unicode scalars from the start of the format.
  var offset: Int

  /// In upper case; nil for tokens that cannot be keywords.
  var keyword: String? {
    if case .identifier(let name) = kind { return name.uppercased() }
    return nil
  }

  func isSymbol(_ symbol: String) -> Bool { kind == .symbol(symbol) }

  /// Returns whether the token is this keyword. `word` must be in upper case.
  func isKeyword(_ word: String) -> Bool { keyword == word }

  /// The words that are keys only after `#`.
  static let reservedWords: Set<String> = [
    "AND", "OR", "NOT", "IN", "BETWEEN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES",
    "TOKENMATCHES", "ANY", "SOME", "ALL", "NONE", "TRUEPREDICATE", "FALSEPREDICATE", "NULL",
    "NIL", "SELF", "TRUE", "FALSE", "YES", "NO", "CAST", "FUNCTION", "SUBQUERY",
  ]

  /// Returns whether the name is that of a function, which has colons. The check looks at bytes,
  /// because a combining mark after a colon would form one `Character` with the colon.
  static func isSelector(_ name: String) -> Bool { name.utf8.contains(UInt8(ascii: ":")) }

  var description: String {
    switch kind {
    case .identifier(let name): "'\(name)'"
    case .escapedIdentifier(let name): "'#\(name)'"
    case .number(let text): "'\(text)'"
    case .string: "a string"
    case .symbol(let symbol): "'\(symbol)'"
    case .argument(let letter): "'%\(letter)'"
    case .variable(let name): "'$\(name)'"
    case .end: "the end"
    }
  }
}
