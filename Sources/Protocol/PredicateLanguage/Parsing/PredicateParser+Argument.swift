internal import CloudKitModel

extension PredicateParser {
  /// Puts the next argument in for `%@`, `%K` or a number format.
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
        "the argument for '%\(letter)' is of type \(argument.typeName), which does not fit")
    }
    advance()
    return result
  }

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
