import CloudKitModel
import SQLEngine
import StoreModel

/// A record type of a schema, in the cache of a connection (``Catalog``). A new field is added to
/// the entry when a record with this field is saved.
///
/// Each connection has entries of its own, so only one thread at a time uses an entry. When the
/// catalog version rises (``CounterTable/raiseCatalogVersion()``), the connection removes its
/// entries.
final class RecordTypeEntry {
  /// The system fields that have a field number in the value index, for every record type.
  static let indexedSystemFields: [SystemField] = [
    .createdTimestamp, .modifiedTimestamp, .createdUserRecordName, .parent,
  ]

  /// The system fields whose values are indexed only if the schema or the grants require that.
  ///
  /// Creation times are always indexed, to find all records of a type. Parents are always indexed,
  /// to find the children of a record.
  static let systemFieldsIndexedByOption: Set<SystemField> = [
    .modifiedTimestamp, .createdUserRecordName,
  ]

  /// The type, the options and the number in the value index of one field.
  struct Field {
    /// The field's number in the value index, from 1 on. Numbers are unique in the store and never
    /// reused.
    var number: Int64
    /// The type of all values of the field.
    var type: FieldType
    /// Whether clients encrypt the values. Queries cannot search or sort by an encrypted field.
    var isEncrypted = false
    /// The field's search and sort options.
    var indexes: FieldIndexes = []
    /// The phase of the work on the index entries of the field's values; nil if there is no work,
    /// so that the index has what `indexes` requires.
    var indexWork: IndexWork.Phase?
    /// The phase of the work on the index entries of the words in the field's texts; nil if there
    /// is no work.
    var wordIndexWork: IndexWork.Phase?

    /// Whether saving a record adds its value in this field to the index. The result is false while
    /// old entries are being removed.
    var hasValueEntries: Bool { indexes.usesValues && indexWork != .clearing }
    /// Whether saving a record adds the words of its text in this field to the index. The result is
    /// false while old entries are being removed.
    var hasTokenEntries: Bool {
      indexes.contains(.searchable) && type.element == .string && wordIndexWork != .clearing
    }
    /// The number under which the index has the words of the field's texts.
    ///
    /// It is the negative number of the field.
    var tokenNumber: Int64 { -number }
  }

  /// The number of the type, which is unique in the store and never reused.
  let number: Int64
  /// The name of the type, which is unique in a container's environment.
  let name: String
  /// The fields by their names. Indexed system fields are here too, under their names in schemas.
  var fields: [String: Field] = [:]
  /// The search and sort options of system fields.
  var systemIndexes: [SystemField: FieldIndexes] = [:]
  /// The rights that roles have for the type's records in the public database.
  var grants = RecordGrants()

  /// Creates an entry without fields, options and grants.
  init(number: Int64, name: String) {
    self.number = number
    self.name = name
  }

  /// Returns the field with this key; nil for a system field without a number in the index, for an
  /// unknown field, and for all text.
  func field(for key: FieldKey) -> Field? {
    switch key {
    case .field(let name): fields[name]
    case .system(let field): fields[field.schemaName]
    case .allText: nil
    }
  }
}

extension ContainerSchema.RecordType {
  /// Returns the options for which the value index must have a system field. These are the options
  /// in the schema. For the creator, `.queryable` is added if the grants let some users read only
  /// the records that they created.
  func valueIndexes(of field: SystemField) -> FieldIndexes {
    let options = systemIndexes[field] ?? []
    return field == .createdUserRecordName && grants.limitsReadersToOwn
      ? options.union(.queryable) : options
  }
}

extension RecordTypeEntry {
  /// Returns the range of the value index with the records of the type that a user created.
  ///
  /// The result is nil if the database has an owner, or if the index of creators is missing or
  /// incomplete. The result is also nil for a name so long that its key is truncated
  /// (``ValueKey/textLimit``).
  func indexOfRecords(
    madeBy userRecordName: String?, at address: DatabaseAddress
  ) -> IndexStretch? {
    // In a database with an owner, nearly all records are the owner's, so creators are not indexed.
    guard let userRecordName, address.owner == nil,
      let field = field(for: .system(.createdUserRecordName)), field.indexes.usesValues,
      field.indexWork == nil
    else { return nil }
    let key = ValueKey.key(of: userRecordName)
    // Another user's name may have the same truncated key.
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
  /// The name of the system's record type for shares. A schema file cannot name this type.
  static let shareType = "cloudkit.share"
}
