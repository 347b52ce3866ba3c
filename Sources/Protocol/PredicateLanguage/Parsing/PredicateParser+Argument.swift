internal import CloudKitModel

extension PredicateParser {
  /// Returns the next argument as a term, for `%@`, `%K` or a number format.
  ///
  /// `%K` takes a string with a key path, `%@` any argument. A format for integers takes a double
  /// only if the double is a whole number in the range of `Int64`. A format for doubles takes any
  /// integer; one of more than 53 bits is rounded.
  ///
  /// - Parameter letter: The last letter of the placeholder.
  /// - Throws: ``PredicateFormatError`` when no argument is left, or when the argument does not fit
  ///   the placeholder.
  mutating func argument(
    _ letter: Character
  ) throws(PredicateFormatError) -> PredicateTerm {
    guard let argument = arguments.popFirst() else {
      throw failure("there is no argument for '%\(letter)'")
    }
    let expression = argument.expression
    let result: PredicateTerm?
    switch letter {
    case "@": result = expression
    case "K": result = Self.key(expression)
    case "s", "S", "c", "C": result = Self.string(expression)
    case "f", "F", "e", "E", "g", "G", "a", "A": result = Self.double(expression)
    default: result = Self.integer(expression)
    }
    guard let result else {
      throw failure(
        "the argument for '%\(letter)' is of type \(argument.typeName), which does not match")
    }
    advance()
    return result
  }

  /// Nil for an empty string too. `SELF.` at the beginning is dropped.
  private static func key(_ expression: PredicateTerm) -> PredicateTerm? {
    guard case .value(.string(let name)) = expression, !name.isEmpty else { return nil }
    let keys = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard keys[0].uppercased() == "SELF" else { return .keyPath(keys) }
    return keys.count == 1 ? .selfObject : .keyPath(Array(keys.dropFirst()))
  }

  private static func string(_ expression: PredicateTerm) -> PredicateTerm? {
    guard case .value(.string) = expression else { return nil }
    return expression
  }

  private static func double(_ expression: PredicateTerm) -> PredicateTerm? {
    switch expression {
    case .value(.double): expression
    case .value(.int64(let integer)): .value(.double(Double(integer)))
    default: nil
    }
  }

  private static func integer(_ expression: PredicateTerm) -> PredicateTerm? {
    switch expression {
    case .value(.int64): expression
    case .value(.double(let double)): Int64(exactly: double).map { .value(.int64($0)) }
    default: nil
    }
  }
}
