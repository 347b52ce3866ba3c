import CloudKitModel

/// The schema language (`.ckdb`): Apple, "Integrating a Text-Based Schema into Your Workflow".
extension ContainerSchema {
  /// Reads a schema text.
  ///
  /// ```
  /// DEFINE SCHEMA
  ///     CREATE ROLE Editor;
  ///     RECORD TYPE Note (
  ///         "___createTime" TIMESTAMP QUERYABLE SORTABLE,
  ///         title           STRING QUERYABLE SEARCHABLE,
  ///         tags            LIST<STRING> QUERYABLE,
  ///         GRANT WRITE TO "_creator",
  ///         GRANT READ, WRITE TO Editor
  ///     );
  /// ```
  ///
  /// - A record type without `GRANT` has the standard grants. System fields that are not named have
  ///   no options.
  /// - `NUMBER` is read as `DOUBLE`, or as the type that it prefers.
  public init(parsing text: String) throws(SchemaSyntaxError) {
    var parser = try SchemaParser(text)
    self = try parser.parse()
  }

  /// The schema's canonical text, as Apple's own tools export it: roles, types and fields in the
  /// order of their names, system fields first and all of them, types and options in columns.
  ///
  /// Reading it gives the same schema.
  public var text: String {
    var text = "DEFINE SCHEMA\n"
    for role in roles.sorted() {
      text += "\n    CREATE ROLE \(SchemaName.printed(role));\n"
    }
    for (name, type) in recordTypes.sorted(by: { $0.key < $1.key }) {
      text += "\n    RECORD TYPE \(SchemaName.printed(name)) (\n"
      text += type.items.map { "        \($0)" }.joined(separator: ",\n")
      text += "\n    );\n"
    }
    return text
  }
}

extension ContainerSchema.RecordType {
  /// The fields and grants as they are printed.
  fileprivate var items: [String] {
    let systemFields = SystemField.inSchema.map { system in
      (
        system.schemaName,
        ContainerSchema.Field(
          FieldType(system.schemaType), indexes: systemIndexes[system] ?? [])
      )
    }
    let named =
      systemFields.sorted { $0.0 < $1.0 }
      + fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    let width = named.map { SchemaName.printed($0.0).count }.max() ?? 0
    let fieldLines = named.map { name, field in
      let name = SchemaName.printed(name)
      let padding = String(repeating: " ", count: width - name.count)
      return "\(name)\(padding) \(field.text)"
    }
    let grantLines = grants.permissions.sorted { $0.key < $1.key }.map { role, permissions in
      "GRANT \(permissions.names.joined(separator: ", ")) TO \(SchemaName.printed(role))"
    }
    return fieldLines + grantLines
  }
}

extension ContainerSchema.Field {
  /// Type and options, such as `LIST<STRING> QUERYABLE`.
  public var text: String {
    ([typeText] + indexes.names).joined(separator: " ")
  }

  /// The type in the schema language.
  public var typeText: String {
    let name = type.element == .asset ? "ASSET" : type.element.rawValue
    let element = (isEncrypted ? "ENCRYPTED " : "") + name
    return type.isList ? "LIST<\(element)>" : element
  }
}
