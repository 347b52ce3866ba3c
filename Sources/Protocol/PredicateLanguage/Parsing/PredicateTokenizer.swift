/// A splitter of a predicate format into tokens.
struct PredicateTokenizer {
  private let format: String
  /// The Unicode scalars of the format. Offsets in errors count them.
  private let scalars: [Unicode.Scalar]
  private var position = 0

  init(_ format: String) {
    self.format = format
    scalars = Array(format.unicodeScalars)
  }

  /// Returns all tokens of the format. The last one is the end.
  ///
  /// - Throws: ``PredicateFormatError`` for a character or a string that cannot be read.
  /// - Complexity: O(*n*) in the length of the format.
  static func tokens(of format: String) throws(PredicateFormatError) -> [PredicateToken] {
    var tokenizer = PredicateTokenizer(format)
    var tokens: [PredicateToken] = []
    repeat {
      tokens.append(try tokenizer.next())
    } while tokens.last?.kind != .end
    return tokens
  }

  private mutating func next() throws(PredicateFormatError) -> PredicateToken {
    while let scalar = current, scalar.properties.isWhitespace { position += 1 }
    let start = position
    guard let first = current else { return PredicateToken(kind: .end, offset: start) }
    let kind: PredicateToken.Kind
    switch first {
    case "'", "\"": kind = try string(until: first)
    case "0"..."9": kind = number()
    case "." where peek(1).map(Self.isDigit) == true: kind = number()
    case "%": kind = try argument()
    case "#":
      position += 1
      kind = .escapedIdentifier(try name(after: "#"))
    case "$":
      position += 1
      kind = .variable(try name(after: "$"))
    case _ where Self.beginsName(first): kind = .identifier(selector())
    default: kind = try symbol()
    }
    return PredicateToken(kind: kind, offset: start)
  }

  private var current: Unicode.Scalar? { peek(0) }

  private func peek(_ distance: Int) -> Unicode.Scalar? {
    position + distance < scalars.count ? scalars[position + distance] : nil
  }

  private func failure(_ reason: String, at offset: Int) -> PredicateFormatError {
    PredicateFormatError(format: format, offset: offset, reason: reason)
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

  /// Returns whether a name may begin with the scalar. Foundation's key paths have operators such
  /// as `@count`.
  private static func beginsName(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || scalar == "@" || scalar.properties.isAlphabetic
  }

  private static func continuesName(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || isDigit(scalar) || scalar.properties.isAlphabetic
  }

  private mutating func take(while condition: (Unicode.Scalar) -> Bool) -> String {
    var text = String.UnicodeScalarView()
    while let scalar = current, condition(scalar) {
      text.append(scalar)
      position += 1
    }
    return String(text)
  }

  private mutating func name(after mark: String) throws(PredicateFormatError) -> String {
    guard let first = current, Self.beginsName(first) else {
      throw failure("expected a name after '\(mark)'", at: position)
    }
    return take(while: Self.continuesName)
  }

  private mutating func selector() -> String {
    var text = String(scalars[position])
    position += 1
    text += take(while: Self.continuesName)
    while current == ":" {
      position += 1
      text += ":" + take(while: Self.continuesName)
    }
    return text
  }

  /// Consumes a decimal number with an optional fraction and exponent. An `e` without digits after
  /// it does not belong to the number.
  private mutating func number() -> PredicateToken.Kind {
    var text = take(while: Self.isDigit)
    if current == ".", peek(1).map(Self.isDigit) == true {
      position += 1
      text = (text.isEmpty ? "0" : text) + "." + take(while: Self.isDigit)
    }
    guard current == "e" || current == "E" else { return .number(text) }
    let hasSign = peek(1) == "+" || peek(1) == "-"
    guard peek(hasSign ? 2 : 1).map(Self.isDigit) == true else { return .number(text) }
    let sign = hasSign ? String(scalars[position + 1]) : ""
    position += hasSign ? 2 : 1
    return .number(text + "e" + sign + take(while: Self.isDigit))
  }

  /// Consumes a symbol. The longer symbols come first in the list, so that `<=` is not read as `<`.
  private mutating func symbol() throws(PredicateFormatError) -> PredicateToken.Kind {
    let symbols = [
      "==", "=<", "=>", "<=", "<>", ">=", "!=", "&&", "||", "**", "=", "<", ">", "!", "(", ")",
      "{", "}", "[", "]", ",", ".", "+", "-", "*", "/",
    ]
    for symbol in symbols where Array(symbol.unicodeScalars) == rest(symbol.unicodeScalars.count) {
      position += symbol.unicodeScalars.count
      return .symbol(symbol)
    }
    throw failure("unexpected character '\(scalars[position])'", at: position)
  }

  private func rest(_ count: Int) -> [Unicode.Scalar] {
    Array(scalars[position..<min(position + count, scalars.count)])
  }
}

extension PredicateTokenizer {
  /// Consumes a placeholder: `%@`, `%K`, or a number format of C with its length letters. `%%` is
  /// the operator for the modulus.
  private mutating func argument() throws(PredicateFormatError) -> PredicateToken.Kind {
    let start = position
    position += 1
    if current == "%" {
      position += 1
      return .symbol("%%")
    }
    _ = take { $0 == "l" || $0 == "h" || $0 == "q" || $0 == "z" }
    guard let letter = current, "@KdDiuUxXofFeEgGsScCaA".unicodeScalars.contains(letter) else {
      throw failure("expected '@', 'K' or a number format after '%'", at: start)
    }
    position += 1
    return .argument(Character(letter))
  }

  private mutating func string(
    until quote: Unicode.Scalar
  ) throws(PredicateFormatError) -> PredicateToken.Kind {
    let start = position
    position += 1
    var text = String.UnicodeScalarView()
    while let scalar = current {
      position += 1
      if scalar == quote { return .string(String(text)) }
      text.append(scalar == "\\" ? try escaped(from: start) : scalar)
    }
    throw failure("the string has no closing \(quote)", at: start)
  }

  /// Consumes the rest of an escape after the backslash, such as `n` or `u00e9`. Any other scalar
  /// stands for itself.
  private mutating func escaped(from start: Int) throws(PredicateFormatError) -> Unicode.Scalar {
    guard let scalar = current else {
      throw failure("the string ends after a backslash", at: start)
    }
    position += 1
    switch scalar {
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "0": return "\0"
    case "u", "U":
      let offset = position - 2
      let digits = String(String.UnicodeScalarView(rest(4)))
      guard digits.unicodeScalars.count == 4, let code = UInt32(digits, radix: 16),
        let decoded = Unicode.Scalar(code)
      else { throw failure("expected four hexadecimal digits of a character", at: offset) }
      position += 4
      return decoded
    default: return scalar
    }
  }
}
