import CloudKitModel

extension SchemaParser {
  /// Parses a field or a grant of a record type.
  ///
  /// - Parameters:
  ///   - typeName: The name of the record type, on which the names of its fields depend.
  ///   - seen: The names of the type's fields that are parsed so far. The method adds the name of a
  ///     field. A repeated name is an error.
  mutating func parseItem(
    of typeName: String, into type: inout ContainerSchema.RecordType, seen: inout Set<String>
  ) throws(SchemaSyntaxError) {
    if current.isKeyword("GRANT") {
      try parseGrant(into: &type.grants)
      return
    }
    let token = current
    let name = try takeName(as: "a field or GRANT")
    guard seen.insert(name).inserted else {
      throw token.error("field '\(name)' is already defined in this record type")
    }
    if name.hasPrefix("_") {
      try parseSystemField(named: name, at: token, into: &type)
      return
    }
    do {
      try Identifier.validateFieldName(name, ofRecordType: typeName)
    } catch {
      throw token.error(error.reason)
    }
    var field = try parseFieldType(of: name)
    field.indexes = try parseOptions(of: name, field)
    type.fields[name] = field
  }

  /// Parses the type and the options of a system field. The type must be `SystemField.schemaType`,
  /// without `ENCRYPTED`.
  private mutating func parseSystemField(
    named name: String, at token: SchemaToken, into type: inout ContainerSchema.RecordType
  ) throws(SchemaSyntaxError) {
    guard let system = SystemField(schemaName: name) else {
      let known = SystemField.inSchema.map(\.schemaName).joined(separator: ", ")
      throw token.error("unknown system field '\(name)'; the system fields are \(known)")
    }
    let typeToken = current
    var field = try parseFieldType(of: name)
    guard field.type == FieldType(system.schemaType), !field.isEncrypted else {
      throw typeToken.error("system field '\(name)' is of type \(system.schemaType.rawValue)")
    }
    field.indexes = try parseOptions(of: name, field)
    if !field.indexes.isEmpty { type.systemIndexes[system] = field.indexes }
  }

  // MARK: Types

  /// The types of single values by their names. `NUMBER` is not here, because `PREFERRED AS` may
  /// follow it.
  private static let elements: [String: ValueType] = [
    "ASSET": .asset, "BYTES": .bytes, "DOUBLE": .double, "INT64": .int64, "LOCATION": .location,
    "REFERENCE": .reference, "STRING": .string, "TIMESTAMP": .timestamp,
  ]

  /// Parses a type. `ENCRYPTED` may be before the type, before `LIST`, or inside of `LIST<…>`.
  private mutating func parseFieldType(
    of name: String
  ) throws(SchemaSyntaxError) -> ContainerSchema.Field {
    let isEncrypted = takeIf(keyword: "ENCRYPTED")
    guard takeIf(keyword: "LIST") else {
      return ContainerSchema.Field(
        FieldType(try parseElement(of: name, isEncrypted: isEncrypted)), isEncrypted: isEncrypted)
    }
    try expect("<", after: "LIST")
    let hasEncryptedElements = !isEncrypted && takeIf(keyword: "ENCRYPTED")
    let element = try parseElement(of: name, isEncrypted: isEncrypted || hasEncryptedElements)
    try expect(">", after: "the type of the list's elements")
    return ContainerSchema.Field(
      .list(of: element), isEncrypted: isEncrypted || hasEncryptedElements)
  }

  /// Parses the type of a single value, or of the elements of a list. Assets, references and
  /// `NUMBER` cannot be encrypted.
  private mutating func parseElement(
    of name: String, isEncrypted: Bool
  ) throws(SchemaSyntaxError) -> ValueType {
    let token = current
    if !isEncrypted, takeIf(keyword: "NUMBER") { return try parsePreference() }
    guard case .word(let word) = token.kind, let element = Self.elements[word.uppercased()] else {
      throw token.error(
        "expected the type of field '\(name)' (\(Self.elements.keys.sorted().joined(separator: ", ")), "
          + "NUMBER, LIST<…> or ENCRYPTED …), found \(token.shown)")
    }
    guard !isEncrypted || (element != .asset && element != .reference) else {
      throw token.error("a field of type \(word.uppercased()) cannot be ENCRYPTED")
    }
    take()
    return element
  }

  /// Parses an optional `PREFERRED AS` after `NUMBER`. Without a preference the type is a double,
  /// which can represent whole numbers too.
  private mutating func parsePreference() throws(SchemaSyntaxError) -> ValueType {
    guard takeIf(keyword: "PREFERRED") else { return .double }
    try expect("AS")
    if takeIf(keyword: "INT64") { return .int64 }
    if takeIf(keyword: "DOUBLE") { return .double }
    throw current.error("expected INT64 or DOUBLE after PREFERRED AS, found \(current.shown)")
  }

  // MARK: Options

  /// Parses the options of a field, in any order. Each option must be allowed for the field's type
  /// and may appear once.
  private mutating func parseOptions(
    of name: String, _ field: ContainerSchema.Field
  ) throws(SchemaSyntaxError) -> FieldIndexes {
    var indexes: FieldIndexes = []
    while case .word(let word) = current.kind {
      guard let option = FieldIndexes.named.first(where: { $0.name == word.uppercased() }) else {
        throw current.error(
          "expected QUERYABLE, SORTABLE, SEARCHABLE, ',' or ')' after field '\(name)', "
            + "found \(current.shown)")
      }
      guard !field.isEncrypted else {
        throw current.error(
          "field '\(name)' is encrypted: nothing can be searched or sorted by it, so it cannot be "
            + option.name)
      }
      guard FieldIndexes.allowed(for: field.type).isSuperset(of: option.indexes) else {
        throw current.error("field '\(name)' of type \(field.typeText) cannot be \(option.name)")
      }
      guard indexes.isDisjoint(with: option.indexes) else {
        throw current.error("field '\(name)' is already \(option.name)")
      }
      indexes.insert(option.indexes)
      take()
    }
    return indexes
  }

  // MARK: Grants

  /// Parses a `GRANT`. Several grants to one role add up.
  ///
  /// Roles of the container may be created later in the text, so ``parse()`` checks them at the
  /// end.
  private mutating func parseGrant(
    into grants: inout RecordGrants
  ) throws(SchemaSyntaxError) {
    take()
    var permissions: RecordPermissions = []
    repeat {
      guard case .word(let word) = current.kind,
        let named = RecordPermissions.named.first(where: { $0.name == word.uppercased() })
      else { throw current.error("expected READ, CREATE or WRITE, found \(current.shown)") }
      permissions.insert(named.permissions)
      take()
    } while takeIf(",")
    try expect("TO")
    let token = current
    let role = try takeName(as: "the name of a role")
    if role.hasPrefix("_") {
      guard RecordGrants.SystemRole.all.contains(role) else {
        throw token.error(
          "unknown system role '\(role)'; the system roles are "
            + RecordGrants.SystemRole.all.sorted().joined(separator: ", "))
      }
    } else {
      customGrants.append((role, token))
    }
    grants.grant(permissions, to: role)
  }
}

extension FieldIndexes {
  /// The options with their names, in the order in which they are printed.
  static let named: [(name: String, indexes: FieldIndexes)] = [
    ("QUERYABLE", .queryable), ("SEARCHABLE", .searchable), ("SORTABLE", .sortable),
  ]

  package var names: [String] { Self.named.filter { isSuperset(of: $0.indexes) }.map(\.name) }
}

extension RecordPermissions {
  /// The permissions with their names, in the order in which they are printed.
  static let named: [(name: String, permissions: RecordPermissions)] = [
    ("READ", .read), ("CREATE", .create), ("WRITE", .write),
  ]

  package var names: [String] { Self.named.filter { isSuperset(of: $0.permissions) }.map(\.name) }
}
