import CloudKitModel
import SQLEngine
import StoreModel

/// The tables of record types, with their fields, indexes and grants. In a distributed store, these
/// small tables are replicated to every node.
///
/// A *dropped* type was removed from the schema. It keeps its row and number, because tombstones
/// may have the number.
///
/// Saving a record can add a type or fields without raising the catalog version, by which
/// processes read schemas again. So a process looks in the tables for a type or field that it does
/// not know.
struct RecordTypeTable: Table {
  let transaction: StoreTransaction

  /// `value_type` is the name of a field's type, after ``encryptionPrefix`` if clients encrypt it.
  /// `indexes` has the bits of `FieldIndexes`, `permissions` those of `RecordPermissions`.
  static let definition = [
    """
    CREATE TABLE record_types (
      type_number BIGINT PRIMARY KEY, container TEXT NOT NULL, environment TEXT NOT NULL,
      name TEXT NOT NULL, dropped BIGINT NOT NULL DEFAULT 0,
      UNIQUE (container, environment, name))
    """,
    """
    CREATE TABLE record_fields (
      field_number BIGINT PRIMARY KEY, type_number BIGINT NOT NULL, name TEXT NOT NULL,
      value_type TEXT NOT NULL, indexes BIGINT NOT NULL DEFAULT 0, UNIQUE (type_number, name))
    """,
    """
    CREATE TABLE system_field_indexes (
      type_number BIGINT NOT NULL, name TEXT NOT NULL, indexes BIGINT NOT NULL,
      PRIMARY KEY (type_number, name))
    """,
    """
    CREATE TABLE record_type_grants (
      type_number BIGINT NOT NULL, role TEXT NOT NULL, permissions BIGINT NOT NULL,
      PRIMARY KEY (type_number, role))
    """,
  ]

  static let encryptionPrefix = "ENCRYPTED "

  // MARK: Reading

  func place(after last: ContainerPlace?) throws -> ContainerPlace? {
    try transaction.place(after: last, by: sql.places)
  }

  /// nil also for a dropped type.
  ///
  /// - Complexity: O(1) once the type is cached. A missing type is not cached.
  func type(
    named name: String, of container: String, in environment: ContainerEnvironment
  ) throws -> RecordTypeEntry? {
    let key = Catalog.RecordTypeKey(container: container, environment: environment, name: name)
    if let known = transaction.catalog.types[key] { return known }
    let number = try connection.integer(
      sql.number, [.text(container), .text(environment.rawValue), .text(name)])
    guard let number else { return nil }
    let entry = RecordTypeEntry(number: number, name: name)
    try load(entry)
    transaction.catalog.types[key] = entry
    transaction.catalog.typesByNumber[number] = entry
    return entry
  }

  func type(named name: String, at address: DatabaseAddress) throws -> RecordTypeEntry? {
    try type(named: name, of: address.container, in: address.environment)
  }

  func numbers(ofTypesNamed names: Set<String>, at address: DatabaseAddress) throws -> Set<Int64> {
    Set(try names.compactMap { try type(named: $0, at: address)?.number })
  }

  /// Also for a dropped type, because tombstones keep its number.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` if there is none.
  func name(ofType number: Int64) throws -> String {
    if let known = transaction.catalog.typesByNumber[number] { return known.name }
    let name = try connection.text(sql.name, [.integer(number)])
    guard let name else {
      throw StoreError(.corrupt, "the store has no record type \(number), but a record of it")
    }
    let entry = RecordTypeEntry(number: number, name: name)
    try load(entry)
    transaction.catalog.typesByNumber[number] = entry
    return name
  }

  /// If the entry does not have the field, all fields of the type are read again.
  func field(_ name: String, of type: RecordTypeEntry) throws -> RecordTypeEntry.Field? {
    if let known = type.fields[name] { return known }
    try loadFields(of: type)
    return type.fields[name]
  }

  /// Without the system's type for shares.
  func schema(
    of container: String, in environment: ContainerEnvironment
  ) throws -> ContainerSchema {
    var schema = ContainerSchema(
      roles: try RoleTable(transaction: transaction).custom(of: container, in: environment))
    for name in try names(of: container, in: environment) where name != ContainerSchema.shareType {
      // Other processes add fields without raising the catalog version.
      guard let entry = try type(named: name, of: container, in: environment) else { continue }
      try loadFields(of: entry)
      schema.recordTypes[name] = entry.definition
    }
    return schema
  }

  func names(
    of container: String, in environment: ContainerEnvironment
  ) throws -> [String] {
    try connection.texts(sql.names, [.text(container), .text(environment.rawValue)])
  }

  private func load(_ entry: RecordTypeEntry) throws {
    try loadFields(of: entry)
    let number = SQLValue.integer(entry.number)
    try connection.query(sql.systemIndexes, [number]) { row in
      guard let field = SystemField(schemaName: row.text(0)) else { return }
      entry.systemIndexes[field] = FieldIndexes(rawValue: UInt8(row.integer(1)))
    }
    var grants = RecordGrants()
    try connection.query(sql.grants, [number]) {
      grants.grant(RecordPermissions(rawValue: UInt8($0.integer(1))), to: $0.text(0))
    }
    entry.grants = grants
  }

  /// Finds the fields that other processes added by saving records.
  func loadFields(of entry: RecordTypeEntry) throws {
    try connection.query(sql.fields, [.integer(entry.number)]) { row in
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

  // MARK: Types created by saving records

  /// With the options and grants of a type without a schema file.
  func add(named name: String, at address: DatabaseAddress) throws -> RecordTypeEntry {
    try add(
      named: name, .implicit, container: address.container, environment: address.environment)
  }

  /// Schemas that an administrator imports or deploys are not limited. Without `type`, the save
  /// would create it.
  ///
  /// - Throws: ``ItemFailure/Code/quotaExceeded``.
  func checkLimit(
    for record: Record, in type: RecordTypeEntry?, newFields: [String], at address: DatabaseAddress
  ) throws {
    let typeLimit = transaction.context.quotas[.recordTypes]
    if type == nil, typeLimit < .max {
      let count = try connection.count(
        sql.count, [.text(address.container), .text(address.environment.rawValue)])
      if count >= typeLimit {
        throw transaction.context.quotas.refusal(
          of: .recordTypes, field: "recordType",
          "record '\(record.recordID)' would create record type '\(record.recordType)': "
            + "\(address.environment.rawValue) of \(address.container) has \(count) record types, and "
            + "the limit for types that saving creates is \(typeLimit)")
      }
    }
    let fieldLimit = transaction.context.quotas[.fieldsPerRecordType]
    guard let field = newFields.first else { return }
    let count = max(0, (type?.fields.count ?? 0) - RecordTypeEntry.indexedSystemFields.count)
    guard newFields.count > fieldLimit - count else { return }
    throw transaction.context.quotas.refusal(
      of: .fieldsPerRecordType, field: field,
      "record '\(record.recordID)' would create \(newFields.count) new fields, '\(field)' among them: "
        + "record type '\(record.recordType)' has \(count), and the limit for fields that saving "
        + "creates is \(fieldLimit)")
  }

  /// The writer adds noted types to the ``SchemaCache`` after the commit. A type that was noted
  /// last for the same database, with as many fields, is not noted again.
  func noteUse(
    of type: RecordTypeEntry, in database: DatabaseID, at address: DatabaseAddress
  ) {
    guard let version = transaction.catalog.version else { return }
    if let last = transaction.usedTypes.last, last.type.number == type.number,
      last.database == database, last.type.fields.count == type.fields.count
    {
      return
    }
    transaction.usedTypes.append(
      SchemaCache.Update(
        database: database, address: address, name: type.name,
        type: SchemaCache.RecordType(
          catalogVersion: version, number: type.number, fields: type.fields)))
  }

  struct Statements {
    let places = PlaceStatements("record_types")
    let changing = ChangingStatements()
    let number: Statement = """
      SELECT type_number FROM record_types
      WHERE container = $1 AND environment = $2 AND name = $3 AND dropped = 0
      """
    let name: Statement = "SELECT name FROM record_types WHERE type_number = $1"
    let names: Statement = """
      SELECT name FROM record_types WHERE container = $1 AND environment = $2 AND dropped = 0
      ORDER BY name
      """
    let systemIndexes: Statement =
      "SELECT name, indexes FROM system_field_indexes WHERE type_number = $1"
    let grants: Statement =
      "SELECT role, permissions FROM record_type_grants WHERE type_number = $1"
    let fields: Statement = """
      SELECT name, record_fields.field_number, value_type, indexes, work.phase, words.phase
      FROM record_fields
      LEFT JOIN index_work AS work ON work.field_number = record_fields.field_number
      LEFT JOIN index_work AS words ON words.field_number = -record_fields.field_number
      WHERE type_number = $1
      """
    let count: Statement =
      "SELECT COUNT(*) FROM record_types WHERE container = $1 AND environment = $2 AND dropped = 0"
  }
  static let sql = Statements()
}
