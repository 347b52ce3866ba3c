import CloudKitModel
import SQLEngine
import StoreModel

/// A cached record type of the schema. Fields are added as they are created.
///
/// Each connection has entries of its own (``Catalog``), so one thread at a time uses an entry. A
/// new catalog version drops it.
final class RecordTypeEntry {
  /// The system fields that the value index has for every record type.
  static let indexedSystemFields: [SystemField] = [
    .createdTimestamp, .modifiedTimestamp, .createdUserRecordName, .parent,
  ]

  /// The system fields that are indexed only if the schema or the grants require it. Creation times
  /// are always indexed, to find all records of a type, and so are parents, to walk down a
  /// hierarchy.
  static let systemFieldsIndexedByOption: Set<SystemField> = [
    .modifiedTimestamp, .createdUserRecordName,
  ]

  /// A field of a record type, as the value index needs it.
  struct Field {
    /// The field's number in the value index, from 1 on. Numbers are unique in the store and never
    /// reused.
    var number: Int64
    /// The type of all values of the field.
    var type: FieldType
    /// Whether its values are marked as encrypted, which excludes searches.
    var isEncrypted = false
    /// The field's search and sort options.
    var indexes: FieldIndexes = []
    /// The remaining work until the index has the values required by `indexes`; nil if it has them.
    var indexWork: IndexWork.Phase?
    /// The remaining work for the words in the values.
    var wordIndexWork: IndexWork.Phase?

    /// Whether the index gets entries of values; not while old entries are being removed.
    var hasValueEntries: Bool { indexes.usesValues && indexWork != .clearing }
    /// Whether the index gets entries of words; not while old entries are being removed.
    var hasTokenEntries: Bool {
      indexes.contains(.searchable) && type.element == .string && wordIndexWork != .clearing
    }
    /// The number of the field's words in the index.
    ///
    /// It is the negative number of the field.
    var tokenNumber: Int64 { -number }
  }

  /// The number of the type. It is unique in the store and never reused.
  let number: Int64
  /// The name of the type in its container.
  let name: String
  /// The fields by their names. Indexed system fields are here too, under their names in schemas.
  var fields: [String: Field] = [:]
  /// The search and sort options of system fields.
  var systemIndexes: [SystemField: FieldIndexes] = [:]
  /// The grants for the type's records in the public database.
  var grants = RecordGrants()

  /// Creates an entry without fields, options and grants.
  init(number: Int64, name: String) {
    self.number = number
    self.name = name
  }

  /// Returns the indexed field for a key; nil for a key without a field in the index, and for all
  /// text.
  func field(for key: FieldKey) -> Field? {
    switch key {
    case .field(let name): fields[name]
    case .system(let field): fields[field.schemaName]
    case .allText: nil
    }
  }
}

extension ContainerSchema.RecordType {
  /// Returns the options for which the value index has a system field: those of the schema. If
  /// callers find only records that they created, creators are indexed too.
  func valueIndexes(of field: SystemField) -> FieldIndexes {
    let options = systemIndexes[field] ?? []
    return field == .createdUserRecordName && grants.limitsReadersToOwn
      ? options.union(.queryable) : options
  }
}

extension RecordTypeEntry {
  /// Returns the entries of the type's records that a user created.
  ///
  /// It is nil if creators are not indexed in the database, or not completely, or if the name is so
  /// long that its key is truncated.
  func indexOfRecords(
    madeBy userRecordName: String?, at address: DatabaseAddress
  ) -> IndexStretch? {
    // In a database with an owner, nearly all records are the owner's, so creators are not indexed.
    guard let userRecordName, address.owner == nil,
      let field = field(for: .system(.createdUserRecordName)), field.indexes.usesValues,
      field.indexWork == nil
    else { return nil }
    let key = ValueKey.key(of: userRecordName)
    // A truncated key may also be another user's.
    guard key.count < ValueKey.textLimit else { return nil }
    return IndexStretch(field: field.number, range: KeyRange(key))
  }

  /// The type as a schema defines it.
  var definition: ContainerSchema.RecordType {
    ContainerSchema.RecordType(
      fields: fields.filter { SystemField(anySchemaName: $0.key) == nil }.mapValues {
        ContainerSchema.Field($0.type, isEncrypted: $0.isEncrypted, indexes: $0.indexes)
      },
      systemIndexes: systemIndexes, grants: grants)
  }
}

extension SystemField {
  /// Finds the system field with this name in the store, even if schemas cannot name it; nil for
  /// another name.
  init?(anySchemaName name: String) {
    guard let field = Self.allCases.first(where: { $0.schemaName == name }) else { return nil }
    self = field
  }
}

extension ContainerSchema {
  /// The system's record type of shares, which schemas cannot name.
  static let shareType = "cloudkit.share"
}
