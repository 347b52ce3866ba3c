import CloudKitModel
import SQLEngine
import StoreModel

extension RecordTypeTable {
  /// A type that was dropped gets its old number again.
  ///
  /// - Throws: ``LocksNeeded`` without the reference lock.
  func add(
    named name: String, _ definition: ContainerSchema.RecordType, container: String,
    environment: ContainerEnvironment
  ) throws -> RecordTypeEntry {
    try transaction.require(.reference)
    let place: [SQLValue] = [.text(container), .text(environment.rawValue), .text(name)]
    let dropped = try connection.integer(sql.changing.dropped, place)
    let number = try dropped ?? CounterTable(transaction: transaction).next("record_type")
    try decide(
      dropped == nil ? sql.changing.add : sql.changing.addAgain,
      dropped == nil ? place + [.integer(number)] : [.integer(number)])
    let entry = RecordTypeEntry(number: number, name: name)
    for field in RecordTypeEntry.indexedSystemFields {
      let indexes =
        RecordTypeEntry.systemFieldsIndexedByOption.contains(field)
        ? definition.valueIndexes(of: field) : nil
      try addField(field.schemaName, of: FieldType(field.type), indexes: indexes, to: entry)
    }
    for (name, field) in definition.fields.sorted(by: { $0.key < $1.key }) {
      try addField(
        name, of: field.type, isEncrypted: field.isEncrypted, indexes: field.indexes, to: entry)
    }
    try insert(definition.systemIndexes, ofType: number)
    try insert(definition.grants, ofType: number)
    entry.systemIndexes = definition.systemIndexes
    entry.grants = definition.grants
    let key = Catalog.RecordTypeKey(container: container, environment: environment, name: name)
    transaction.catalog.types[key] = entry
    transaction.catalog.typesByNumber[number] = entry
    return entry
  }

  /// No record may have a value in the field. Without `indexes` it gets those of development.
  ///
  /// - Throws: ``LocksNeeded`` without the reference lock.
  func addField(
    _ name: String, of fieldType: FieldType, isEncrypted: Bool = false,
    indexes: FieldIndexes? = nil, to type: RecordTypeEntry
  ) throws {
    let indexes = indexes ?? .implicit(for: fieldType, isEncrypted: isEncrypted)
    let number = try CounterTable(transaction: transaction).next("record_field")
    try decide(
      sql.changing.addField,
      [
        .integer(number), .integer(type.number), .text(name),
        .text((isEncrypted ? Self.encryptionPrefix : "") + fieldType.name),
        .integer(Int64(indexes.rawValue)),
      ])
    type.fields[name] = RecordTypeEntry.Field(
      number: number, type: fieldType, isEncrypted: isEncrypted, indexes: indexes)
  }

  /// Deletes fields, options and grants. The type keeps its number, because tombstones in change
  /// feeds may have it.
  func drop(_ number: Int64) throws {
    for statement in [
      sql.changing.dropFields, sql.changing.dropSystemIndexes, sql.changing.dropGrants,
      sql.changing.drop,
    ] {
      try decide(statement, [.integer(number)])
    }
  }

  /// The caller must have checked that no record has a value in the field.
  func removeField(_ number: Int64) throws {
    try decide(sql.changing.removeField, [.integer(number)])
  }

  func setIndexes(_ indexes: FieldIndexes, ofField number: Int64) throws {
    try decide(
      sql.changing.setIndexes, [.integer(number), .integer(Int64(indexes.rawValue))])
  }

  func replace(
    _ field: SystemField, with indexes: FieldIndexes, ofType number: Int64
  ) throws {
    try decide(
      sql.changing.removeSystemIndexes, [.integer(number), .text(field.schemaName)])
    try insert([field: indexes], ofType: number)
  }

  func replace(_ grants: RecordGrants, ofType number: Int64) throws {
    try decide(sql.changing.dropGrants, [.integer(number)])
    try insert(grants, ofType: number)
  }

  private func insert(_ indexes: [SystemField: FieldIndexes], ofType number: Int64) throws {
    for (field, options) in indexes where !options.isEmpty {
      try decide(
        sql.changing.addSystemIndexes,
        [.integer(number), .text(field.schemaName), .integer(Int64(options.rawValue))])
    }
  }

  private func insert(_ grants: RecordGrants, ofType number: Int64) throws {
    for (role, permissions) in grants.permissions {
      try decide(
        sql.changing.addGrant,
        [.integer(number), .text(role), .integer(Int64(permissions.rawValue))])
    }
  }

  struct ChangingStatements {
    let dropped: Statement = """
      SELECT type_number FROM record_types
      WHERE container = $1 AND environment = $2 AND name = $3
      """
    let add: Statement = """
      INSERT INTO record_types (container, environment, name, type_number)
      VALUES ($1, $2, $3, $4)
      """
    let addAgain: Statement = "UPDATE record_types SET dropped = 0 WHERE type_number = $1"
    let addField: Statement = """
      INSERT INTO record_fields (field_number, type_number, name, value_type, indexes)
      VALUES ($1, $2, $3, $4, $5)
      """
    let dropFields: Statement = "DELETE FROM record_fields WHERE type_number = $1"
    let dropSystemIndexes: Statement = "DELETE FROM system_field_indexes WHERE type_number = $1"
    let dropGrants: Statement = "DELETE FROM record_type_grants WHERE type_number = $1"
    let drop: Statement = "UPDATE record_types SET dropped = 1 WHERE type_number = $1"
    let removeField: Statement = "DELETE FROM record_fields WHERE field_number = $1"
    let setIndexes: Statement = "UPDATE record_fields SET indexes = $2 WHERE field_number = $1"
    let removeSystemIndexes: Statement =
      "DELETE FROM system_field_indexes WHERE type_number = $1 AND name = $2"
    let addSystemIndexes: Statement =
      "INSERT INTO system_field_indexes (type_number, name, indexes) VALUES ($1, $2, $3)"
    let addGrant: Statement =
      "INSERT INTO record_type_grants (type_number, role, permissions) VALUES ($1, $2, $3)"
  }
}
