/// A word of a predicate format.
struct PredicateToken: Equatable {
  enum Kind: Equatable {
    /// A key, a keyword or a function's name with its colons.
    case identifier(String)
    /// A key with a `#` before it, which is never a keyword.
    case escapedIdentifier(String)
    case number(String)
    case string(String)
    case symbol(String)
    /// A place for an argument, such as `%@` or `%ld`, without the length letters.
    case argument(Character)
    case variable(String)
    case end
  }

  var kind: Kind
  /// Where it begins, in Unicode scalars from the start of the format.
  var offset: Int

  /// The upper-case form of a word that may be a keyword; nil for all else.
  var keyword: String? {
    if case .identifier(let name) = kind { return name.uppercased() }
    return nil
  }

  func isSymbol(_ symbol: String) -> Bool { kind == .symbol(symbol) }

  func isKeyword(_ word: String) -> Bool { keyword == word }

  /// The words that cannot be keys unless a `#` stands before them.
  static let reservedWords: Set<String> = [
    "AND", "OR", "NOT", "IN", "BETWEEN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES",
    "TOKENMATCHES", "ANY", "SOME", "ALL", "NONE", "TRUEPREDICATE", "FALSEPREDICATE", "NULL",
    "NIL", "SELF", "TRUE", "FALSE", "YES", "NO", "CAST", "FUNCTION", "SUBQUERY",
  ]

  /// Whether a name is a function's. A mark behind a colon makes one character with it, hence the bytes.
  static func isSelector(_ name: String) -> Bool { name.utf8.contains(UInt8(ascii: ":")) }

  /// What the token is, for messages.
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
