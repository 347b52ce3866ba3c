import CloudKitModel
import SQLEngine
import StoreModel

/// A record type as the schema knows it. Fields are added as they become known.
final class RecordTypeEntry {
  /// System fields that the value index holds for every record type.
  static let indexedSystemFields: [SystemField] = [
    .createdTimestamp, .modifiedTimestamp, .createdUserRecordName, .parent,
  ]

  /// Those of them that it holds only where the schema has records found by them, or grants do. Records'
  /// times of creation are the way to all records of a type, and parents the way down a hierarchy.
  static let systemFieldsIndexedByOption: Set<SystemField> = [
    .modifiedTimestamp, .createdUserRecordName,
  ]

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
  /// Where the value index has the type's records that a user made; nil where it has no creators, or
  /// not all yet.
  func indexOfRecords(
    madeBy userRecordName: String?, at address: DatabaseAddress
  ) -> IndexStretch? {
    // Where nearly everything is made by the owner, creators are not indexed.
    guard let userRecordName, address.owner == nil,
      let field = field(for: .system(.createdUserRecordName)), field.indexes.usesValues,
      field.indexWork == nil
    else { return nil }
    let key = ValueKey.key(of: userRecordName)
    // A key of that length may be another user's too.
    guard key.count < ValueKey.textLimit else { return nil }
    return IndexStretch(field: field.number, range: KeyRange(key))
  }

  /// The type as a schema has it.
  var definition: ContainerSchema.RecordType {
    ContainerSchema.RecordType(
      fields: fields.filter { SystemField(anySchemaName: $0.key) == nil }.mapValues {
        ContainerSchema.Field($0.type, isEncrypted: $0.isEncrypted, indexes: $0.indexes)
      },
      systemIndexes: systemIndexes, grants: grants)
  }
}

extension SystemField {
  /// The system field with this name in the store, whether schemas name it or not.
  init?(anySchemaName name: String) {
    guard let field = Self.allCases.first(where: { $0.schemaName == name }) else { return nil }
    self = field
  }
}

extension ContainerSchema {
  /// The system's record type of shares, which schemas do not name.
  static let shareType = "cloudkit.share"
}
