import CloudKitModel
import SQLEngine
import StoreModel

/// A record type as the schema knows it. Fields are added as they become known.
final class RecordTypeEntry {
  struct Field {
    var number: Int64
    var type: FieldType
    /// Whether its values are marked as encrypted, so that nothing can search for them.
    var isEncrypted = false
    /// What it may be searched and sorted by.
    var indexes: FieldIndexes = []
    /// What is still to be done until the index holds the values that `indexes` asks for; nil when
    /// it does.
    var indexWork: IndexWork.Phase?
    /// The same for the words in the values.
    var wordIndexWork: IndexWork.Phase?

    /// Whether the index gets entries of values: not while old ones are still being removed.
    var hasValueEntries: Bool { indexes.usesValues && indexWork != .clearing }
    /// Whether the index gets entries of the words in its values, likewise.
    var hasTokenEntries: Bool {
      indexes.contains(.searchable) && type.element == .string && wordIndexWork != .clearing
    }
    /// The number under which the index has the words of its values.
    var tokenNumber: Int64 { -number }
  }

  let number: Int64
  let name: String
  var fields: [String: Field] = [:]
  /// What system fields may be searched and sorted by.
  var systemIndexes: [SystemField: FieldIndexes] = [:]
  /// Who may do what with its records in the public database.
  var grants = RecordGrants()

  init(number: Int64, name: String) {
    self.number = number
    self.name = name
  }

  /// The field that the value index knows for a key.
  func field(for key: FieldKey) -> Field? {
    switch key {
    case .field(let name): fields[name]
    case .system(let field): fields[field.schemaName]
    case .allText: nil
    }
  }
}

extension ContainerSchema.RecordType {
  /// The options by which the value index holds a system field: those of the schema, and for creators one
  /// where callers find nothing but what they made.
  func valueIndexes(of field: SystemField) -> FieldIndexes {
    let options = systemIndexes[field] ?? []
    return field == .createdUserRecordName && grants.limitsReadersToOwn
      ? options.union(.queryable) : options
  }
}

extension RecordTypeEntry {
  static func insertSystemIndexes(
    _ indexes: [SystemField: FieldIndexes], ofType number: Int64,
    through connection: any SQLConnection
  ) throws {
    for (field, options) in indexes where !options.isEmpty {
      try connection.run(
        """
        INSERT INTO system_field_indexes (type_number, name, indexes) VALUES ($1, $2, $3)
        """,
        [.integer(number), .text(field.schemaName), .integer(Int64(options.rawValue))])
    }
  }

  static func insertGrants(
    _ grants: RecordGrants, ofType number: Int64, through connection: any SQLConnection
  ) throws {
    for (role, permissions) in grants.permissions {
      try connection.run(
        "INSERT INTO record_type_grants (type_number, role, permissions) VALUES ($1, $2, $3)",
        [.integer(number), .text(role), .integer(Int64(permissions.rawValue))])
    }
  }
}
