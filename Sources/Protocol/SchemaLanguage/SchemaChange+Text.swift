import CloudKitModel

extension SchemaChange: CustomStringConvertible {
  /// The change as text for a person, with a sign at the beginning of each line: `+` for additions,
  /// `-` for removals, `~` for other changes.
  ///
  ///     + Note.rank INT64 QUERYABLE SORTABLE
  ///     ~ Note.title QUERYABLE -> QUERYABLE SEARCHABLE
  ///
  /// A new record type has one more line for each of its fields.
  public var description: String {
    switch self {
    case .addRole(let role): "+ ROLE \(SchemaName.printed(role))"
    case .removeRole(let role): "- ROLE \(SchemaName.printed(role))"
    case .addRecordType(let name, let type):
      (["+ RECORD TYPE \(name)"]
        + type.fields.sorted { $0.key < $1.key }.map { "+ \(name).\($0.key) \($0.value.text)" })
        .joined(separator: "\n")
    case .removeRecordType(let name): "- RECORD TYPE \(name)"
    case .addField(let name, let type, let field): "+ \(type).\(name) \(field.text)"
    case .removeField(let name, let type, let field): "- \(type).\(name) \(field.text)"
    case .changeField(let name, let type, let old, let new):
      "~ \(type).\(name) \(old.text) -> \(new.text)"
    case .changeIndexes(let name, let type, let old, let new):
      "~ \(type).\(name) \(old.text) -> \(new.text)"
    case .changeSystemIndexes(let field, let type, let old, let new):
      "~ \(type).\(field.schemaName) \(old.text) -> \(new.text)"
    case .changeGrants(let type, let old, let new): "~ \(type) \(old.text) -> \(new.text)"
    case .addSubscriptionType(let type): "+ SUBSCRIPTION \(type)"
    }
  }
}

extension FieldIndexes {
  fileprivate var text: String {
    isEmpty ? "no index" : names.joined(separator: " ")
  }
}

extension RecordGrants {
  fileprivate var text: String {
    permissions.sorted { $0.key < $1.key }.map { role, permissions in
      "\(permissions.names.joined(separator: "+")) TO \(role)"
    }.joined(separator: ", ")
  }
}
