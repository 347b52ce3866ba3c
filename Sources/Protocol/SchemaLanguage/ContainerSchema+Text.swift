import CloudKitModel

/// The schema language (`.ckdb`). Apple describes it in "Integrating a Text-Based Schema into Your
/// Workflow".
extension ContainerSchema {
  /// Parses a schema text.
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
  /// - A record type without `GRANT` has the standard grants (`RecordGrants.standard`).
  /// - A system field that the text does not name has no options.
  /// - `NUMBER` means `DOUBLE`, or the type after `PREFERRED AS`.
  ///
  /// - Throws: ``SchemaSyntaxError`` for the first mistake.
  public init(parsing text: String) throws(SchemaSyntaxError) {
    var parser = try SchemaParser(text)
    self = try parser.parse()
  }

  /// The schema's canonical text, in the style of Apple's tools. Parsing the text gives the same
  /// schema.
  ///
  /// Roles, record types and fields are in the order of their names. Each record type lists all
  /// system fields first. Types and options are aligned in columns.
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
  /// The type and the options, such as `LIST<STRING> QUERYABLE`.
  public var text: String {
    ([typeText] + indexes.names).joined(separator: " ")
  }

  /// The type in the schema language, such as `ENCRYPTED STRING` or `LIST<INT64>`.
  public var typeText: String {
    let name = type.element == .asset ? "ASSET" : type.element.rawValue
    let element = (isEncrypted ? "ENCRYPTED " : "") + name
    return type.isList ? "LIST<\(element)>" : element
  }
}
