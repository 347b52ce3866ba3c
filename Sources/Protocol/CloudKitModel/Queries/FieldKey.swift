/// What a filter or a sort looks at.
public enum FieldKey: Sendable, Hashable, CustomStringConvertible {
  /// One of the record's own fields.
  case field(String)
  case system(SystemField)
  /// All string fields together, for token searches (`self CONTAINS 'words'`).
  case allText

  public var description: String {
    switch self {
    case .field(let name): name
    case .system(let field): field.rawValue
    case .allText: "(all text)"
    }
  }
}
