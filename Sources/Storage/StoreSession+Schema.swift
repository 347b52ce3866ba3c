import CloudKitModel

extension StoreSession {
  /// System fields that the value index holds for every record type.
  static let indexedSystemFields: [SystemField] = [
    .createdTimestamp, .modifiedTimestamp, .createdUserRecordName, .parent,
  ]

  /// The record type of this name in the database's container, nil when nothing was saved in it.
  func recordType(named name: String, at address: DatabaseAddress) throws -> RecordTypeEntry? {
    let key = Catalog.RecordTypeKey(
      container: address.container, environment: address.environment, name: name)
    if let known = catalog.types[key] { return known }
    let number = try connection.first(
      """
      SELECT type_number FROM record_types
      WHERE container = $1 AND environment = $2 AND name = $3
      """,
      [.text(address.container), .text(address.environment.rawValue), .text(name)]
    ) { $0.integer(0) }
    guard let number else { return nil }
    let entry = RecordTypeEntry(number: number, name: name)
    try loadFields(of: entry)
    catalog.types[key] = entry
    catalog.typesByNumber[number] = entry
    return entry
  }

  /// The name of the record type with this number.
  func recordTypeName(_ number: Int64) throws -> String {
    if let known = catalog.typesByNumber[number] { return known.name }
    let name = try connection.first(
      "SELECT name FROM record_types WHERE type_number = $1", [.integer(number)]
    ) { $0.text(0) }
    guard let name else {
      throw StoreError(.corrupt, "the store has no record type \(number), but a record of it")
    }
    let entry = RecordTypeEntry(number: number, name: name)
    try loadFields(of: entry)
    catalog.typesByNumber[number] = entry
    return name
  }

  /// A field of the type, looked for in the store too when it is not known yet.
  func field(_ name: String, of type: RecordTypeEntry) throws -> RecordTypeEntry.Field? {
    if let known = type.fields[name] { return known }
    try loadFields(of: type)
    return type.fields[name]
  }

  func addRecordType(named name: String, at address: DatabaseAddress) throws -> RecordTypeEntry {
    let number = try nextCounter("record_type")
    try connection.run(
      """
      INSERT INTO record_types (type_number, container, environment, name)
      VALUES ($1, $2, $3, $4)
      """,
      [
        .integer(number), .text(address.container), .text(address.environment.rawValue),
        .text(name),
      ])
    let entry = RecordTypeEntry(number: number, name: name)
    for field in Self.indexedSystemFields {
      try addField(field.schemaName, of: FieldType(field.type), to: entry)
    }
    let key = Catalog.RecordTypeKey(
      container: address.container, environment: address.environment, name: name)
    catalog.types[key] = entry
    catalog.typesByNumber[number] = entry
    return entry
  }

  /// Before the name of a type in the schema.
  private static let encryptionPrefix = "ENCRYPTED "

  func addField(
    _ name: String, of fieldType: FieldType, isEncrypted: Bool = false, to type: RecordTypeEntry
  ) throws {
    let number = try nextCounter("record_field")
    try connection.run(
      """
      INSERT INTO record_fields (field_number, type_number, name, value_type)
      VALUES ($1, $2, $3, $4)
      """,
      [
        .integer(number), .integer(type.number), .text(name),
        .text((isEncrypted ? Self.encryptionPrefix : "") + fieldType.name),
      ])
    type.fields[name] = RecordTypeEntry.Field(
      number: number, type: fieldType, isEncrypted: isEncrypted)
  }

  private func loadFields(of entry: RecordTypeEntry) throws {
    try connection.query(
      "SELECT name, field_number, value_type FROM record_fields WHERE type_number = $1",
      [.integer(entry.number)]
    ) { row in
      let isEncrypted = row.text(2).hasPrefix(Self.encryptionPrefix)
      let typeName = row.text(2).dropFirst(isEncrypted ? Self.encryptionPrefix.count : 0)
      guard let type = FieldType(name: String(typeName)) else {
        throw StoreError(
          .corrupt, "field '\(row.text(0))' has the unknown type '\(row.text(2))' in the schema")
      }
      entry.fields[row.text(0)] = RecordTypeEntry.Field(
        number: row.integer(1), type: type, isEncrypted: isEncrypted)
    }
  }
}
