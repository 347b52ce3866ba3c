import CloudKitModel

extension SchemaChange: CustomStringConvertible {
  /// A line that begins with `+` for what is added, `-` for what is taken away and `~` for what
  /// becomes something else.
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
  /// The options, or a word that there are none.
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
