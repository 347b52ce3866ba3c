import CloudKitModel
import StoreModel

extension StoreSession {
  /// System fields that the value index holds for every record type.
  static let indexedSystemFields: [SystemField] = [
    .createdTimestamp, .modifiedTimestamp, .createdUserRecordName, .parent,
  ]

  /// Those of them that it holds only where the schema has records found by them, or grants do. Records'
  /// times of creation are the way to all records of a type, and parents the way down a hierarchy.
  static let systemFieldsIndexedByOption: Set<SystemField> = [
    .modifiedTimestamp, .createdUserRecordName,
  ]

  /// The record type of this name in the database's container, nil when nothing was saved in it.
  func recordType(named name: String, at address: DatabaseAddress) throws -> RecordTypeEntry? {
    let key = Catalog.RecordTypeKey(
      container: address.container, environment: address.environment, name: name)
    if let known = catalog.types[key] { return known }
    let number = try connection.first(
      """
      SELECT type_number FROM record_types
      WHERE container = $1 AND environment = $2 AND name = $3 AND dropped = 0
      """,
      [.text(address.container), .text(address.environment.rawValue), .text(name)]
    ) { $0.integer(0) }
    guard let number else { return nil }
    let entry = RecordTypeEntry(number: number, name: name)
    try load(entry)
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
    try load(entry)
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
    try addRecordType(
      named: name, .implicit, container: address.container, environment: address.environment)
  }

  /// Refuses a record that would make a record type, or fields, that are too many. Schemas that are
  /// imported or deployed are the operator's, and not limited.
  func requireRoom(
    for record: Record, in type: RecordTypeEntry?, newFields: [String], at address: DatabaseAddress
  ) throws {
    let typeLimit = quotas[.recordTypes]
    if type == nil, typeLimit < .max {
      let count = try connection.first(
        """
        SELECT COUNT(*) FROM record_types
        WHERE container = $1 AND environment = $2 AND dropped = 0
        """, [.text(address.container), .text(address.environment.rawValue)]
      ) { Int($0.integer(0)) }
      if let count, count >= typeLimit {
        throw quotas.refusal(
          of: .recordTypes, field: "recordType",
          "record '\(record.recordID)' would make record type '\(record.recordType)': "
            + "\(address.environment.rawValue) of \(address.container) has \(count) record types, and "
            + "the limit for those that are made by saving is \(typeLimit)")
      }
    }
    let fieldLimit = quotas[.fieldsPerRecordType]
    guard let field = newFields.first else { return }
    let count = max(0, (type?.fields.count ?? 0) - Self.indexedSystemFields.count)
    guard newFields.count > fieldLimit - count else { return }
    throw quotas.refusal(
      of: .fieldsPerRecordType, field: field,
      "record '\(record.recordID)' would make \(newFields.count) new fields, '\(field)' among them: "
        + "record type '\(record.recordType)' has \(count), and the limit for those that are made by "
        + "saving is \(fieldLimit)")
  }

  /// Makes a record type, or makes one again that was dropped.
  func addRecordType(
    named name: String, _ definition: ContainerSchema.RecordType, container: String,
    environment: ContainerEnvironment
  ) throws -> RecordTypeEntry {
    let number = try connection.first(
      """
      INSERT INTO record_types (type_number, container, environment, name)
      VALUES ($1, $2, $3, $4)
      ON CONFLICT (container, environment, name) DO UPDATE SET dropped = 0
      RETURNING type_number
      """,
      [
        .integer(try CounterTable(session: self).next("record_type")), .text(container),
        .text(environment.rawValue),
        .text(name),
      ]
    ) { $0.integer(0) }
    guard let number else { throw StoreError(.corrupt, "record type '\(name)' was not kept") }
    let entry = RecordTypeEntry(number: number, name: name)
    for field in Self.indexedSystemFields {
      let indexes =
        Self.systemFieldsIndexedByOption.contains(field)
        ? definition.valueIndexes(of: field) : nil
      try addField(field.schemaName, of: FieldType(field.type), indexes: indexes, to: entry)
    }
    for (name, field) in definition.fields.sorted(by: { $0.key < $1.key }) {
      try addField(
        name, of: field.type, isEncrypted: field.isEncrypted, indexes: field.indexes, to: entry)
    }
    try RecordTypeEntry.insertSystemIndexes(
      definition.systemIndexes, ofType: number, through: connection)
    try RecordTypeEntry.insertGrants(definition.grants, ofType: number, through: connection)
    entry.systemIndexes = definition.systemIndexes
    entry.grants = definition.grants
    let key = Catalog.RecordTypeKey(container: container, environment: environment, name: name)
    catalog.types[key] = entry
    catalog.typesByNumber[number] = entry
    return entry
  }

  /// Before the name of a type in the schema.
  private static let encryptionPrefix = "ENCRYPTED "

  /// Adds a field; with the indexes that `development` gives it unless others are named.
  func addField(
    _ name: String, of fieldType: FieldType, isEncrypted: Bool = false,
    indexes: FieldIndexes? = nil, to type: RecordTypeEntry
  ) throws {
    let indexes = indexes ?? .implicit(for: fieldType, isEncrypted: isEncrypted)
    let number = try CounterTable(session: self).next("record_field")
    try connection.run(
      """
      INSERT INTO record_fields (field_number, type_number, name, value_type, indexes)
      VALUES ($1, $2, $3, $4, $5)
      """,
      [
        .integer(number), .integer(type.number), .text(name),
        .text((isEncrypted ? Self.encryptionPrefix : "") + fieldType.name),
        .integer(Int64(indexes.rawValue)),
      ])
    type.fields[name] = RecordTypeEntry.Field(
      number: number, type: fieldType, isEncrypted: isEncrypted, indexes: indexes)
  }

  private func load(_ entry: RecordTypeEntry) throws {
    try loadFields(of: entry)
    let number = SQLValue.integer(entry.number)
    try connection.query(
      "SELECT name, indexes FROM system_field_indexes WHERE type_number = $1", [number]
    ) { row in
      guard let field = SystemField(schemaName: row.text(0)) else { return }
      entry.systemIndexes[field] = FieldIndexes(rawValue: UInt8(row.integer(1)))
    }
    var grants = RecordGrants()
    try connection.query(
      "SELECT role, permissions FROM record_type_grants WHERE type_number = $1", [number]
    ) { grants.grant(RecordPermissions(rawValue: UInt8($0.integer(1))), to: $0.text(0)) }
    entry.grants = grants
  }

  func loadFields(of entry: RecordTypeEntry) throws {
    try connection.query(
      """
      SELECT name, record_fields.field_number, value_type, indexes, work.phase, words.phase
      FROM record_fields
      LEFT JOIN index_work AS work ON work.field_number = record_fields.field_number
      LEFT JOIN index_work AS words ON words.field_number = -record_fields.field_number
      WHERE type_number = $1
      """, [.integer(entry.number)]
    ) { row in
      let isEncrypted = row.text(2).hasPrefix(Self.encryptionPrefix)
      let typeName = row.text(2).dropFirst(isEncrypted ? Self.encryptionPrefix.count : 0)
      guard let type = FieldType(name: String(typeName)) else {
        throw StoreError(
          .corrupt, "field '\(row.text(0))' has the unknown type '\(row.text(2))' in the schema")
      }
      entry.fields[row.text(0)] = RecordTypeEntry.Field(
        number: row.integer(1), type: type, isEncrypted: isEncrypted,
        indexes: FieldIndexes(rawValue: UInt8(row.integer(3))),
        indexWork: row.optionalInteger(4).flatMap { IndexWork.Phase(rawValue: $0) },
        wordIndexWork: row.optionalInteger(5).flatMap { IndexWork.Phase(rawValue: $0) })
    }
  }
}
