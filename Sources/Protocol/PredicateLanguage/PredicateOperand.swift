internal import CloudKitModel

/// The meaning of one side of a comparison for a search.
enum PredicateOperand {
  case field(FieldKey)
  case value(RecordValue)
  case list([RecordValue])
  /// The distance between a field and a place, `distanceToLocation:fromLocation:(field, place)`.
  case distance(FieldKey, Location)
  /// The words of a search, `tokenize:using:(words, …)`.
  case tokens(String)

  /// Determines the meaning of a term.
  ///
  /// - Throws: ``PredicateRefusal`` for a term that CloudKit cannot search with, such as nil, a
  ///   variable or arithmetic.
  init(_ expression: PredicateTerm, now: Timestamp?) throws(PredicateRefusal) {
    switch expression {
    case .value(let value): self = .value(try Self.checked(value))
    case .null: throw PredicateRefusal("comparison with nil is not supported")
    case .selfObject: self = .field(.allText)
    case .keyPath(let keys): self = .field(try Self.key(keys))
    case .path(_, let keys):
      throw PredicateRefusal("the key path '\(keys.joined(separator: "."))' is not supported")
    case .aggregate(let elements): self = .list(try Self.list(elements, now: now))
    case .function(let name, let arguments):
      self = try Self.function(name, arguments, now: now)
    case .variable(let name):
      throw PredicateRefusal("the variable $\(name) is not supported; use %@")
    case .subquery: throw PredicateRefusal("SUBQUERY is not supported")
    case .unsupported(let description):
      throw PredicateRefusal("\(description) is not supported")
    }
  }

  /// Refuses binary data, by which records cannot be found.
  private static func checked(_ value: RecordValue) throws(PredicateRefusal) -> RecordValue {
    if case .bytes = value { throw PredicateRefusal("data values are not searchable") }
    return value
  }

  /// Returns the field that a key path names. `allTokens` stands for all text. CloudKit has no
  /// nested fields, so a path of several keys is refused.
  private static func key(_ keys: [String]) throws(PredicateRefusal) -> FieldKey {
    guard keys.count == 1 else {
      throw PredicateRefusal("the key path '\(keys.joined(separator: "."))' is not supported")
    }
    if keys[0] == "allTokens" { return .allText }
    if let field = SystemField(anyName: keys[0]) { return .system(field) }
    do {
      try Identifier.validateFieldName(keys[0])
    } catch {
      throw PredicateRefusal(error.reason)
    }
    return .field(keys[0])
  }

  private static func list(
    _ elements: [PredicateTerm], now: Timestamp?
  ) throws(PredicateRefusal) -> [RecordValue] {
    var values: [RecordValue] = []
    for element in elements {
      switch try PredicateOperand(element, now: now) {
      case .value(let value): values.append(value)
      case .list: throw PredicateRefusal("a list in a list is not supported")
      default: throw PredicateRefusal("a list may hold only values")
      }
    }
    return values
  }

  /// Only `now`, `distanceToLocation:fromLocation:` and `tokenize:using:` have a meaning.
  private static func function(
    _ name: String, _ arguments: [PredicateTerm], now: Timestamp?
  ) throws(PredicateRefusal) -> PredicateOperand {
    switch name {
    case "now":
      guard let now else {
        throw PredicateRefusal(
          "now() is not supported in subscriptions, where its meaning would change as time "
            + "passes; use a date of your own")
      }
      return .value(.timestamp(now))
    case "distanceToLocation:fromLocation:":
      guard arguments.count == 2,
        case .field(let key) = try PredicateOperand(arguments[0], now: now),
        case .value(.location(let place)) = try PredicateOperand(arguments[1], now: now)
      else { throw PredicateRefusal("\(name) needs a key and a location") }
      return .distance(key, place)
    case "tokenize:using:":
      guard let first = arguments.first, case .value(.string(let words)) = first else {
        throw PredicateRefusal("\(name) needs a string")
      }
      return .tokens(words)
    case "CAST":
      throw PredicateRefusal("this CAST is not supported")
    default:
      throw PredicateRefusal("the function \(name) is not supported")
    }
  }
}
