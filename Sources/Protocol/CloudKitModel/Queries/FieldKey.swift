/// The part of a record that a filter tests, or by which a query sorts.
public enum FieldKey: Sendable, Hashable, CustomStringConvertible {
  /// One of the record's own fields, by its name.
  case field(String)
  /// A property that the system keeps for every record, such as the time of its creation.
  case system(SystemField)
  /// All string fields together. Only searches for words use this key (`self CONTAINS 'words'` in a
  /// predicate).
  case allText

  public var description: String {
    switch self {
    case .field(let name): name
    case .system(let field): field.rawValue
    case .allText: "(all text)"
    }
  }
}
