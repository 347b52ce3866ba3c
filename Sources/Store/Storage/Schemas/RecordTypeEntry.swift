import CloudKitModel

/// A record type of a schema, in the cache of a connection (``Catalog``). A new field is added to
/// the entry when a record with this field is saved.
///
/// Each connection has entries of its own, so only one thread uses an entry. When the catalog version
/// rises (``CounterTable/raiseCatalogVersion()``), the connection removes its entries.
final class RecordTypeEntry {
  /// The system fields with numbers in the value index, for every record type.
  static let indexedSystemFields: [SystemField] = [
    .createdTimestamp, .modifiedTimestamp, .createdUserRecordName, .parent,
  ]

  /// Indexed only if the schema or the grants require it. Creation times are always indexed, to
  /// find all records of a type, and parents, to find the children of a record.
  static let systemFieldsIndexedByOption: Set<SystemField> = [
    .modifiedTimestamp, .createdUserRecordName,
  ]

  /// A field and its number in the value index.
  struct Field {
    /// From 1 on, unique in the store and never reused.
    var number: Int64
    var type: FieldType
    /// Whether clients encrypt the values. Queries cannot search or sort by such a field.
    var isEncrypted = false
    var indexes: FieldIndexes = []
    /// nil when the index has what `indexes` requires.
    var indexWork: IndexWork.Phase?
    var wordIndexWork: IndexWork.Phase?

    /// Not while old entries are being removed.
    var hasValueEntries: Bool { indexes.usesValues && indexWork != .clearing }
    var hasTokenEntries: Bool {
      indexes.contains(.searchable) && type.element == .string && wordIndexWork != .clearing
    }
    var tokenNumber: Int64 { -number }
  }

  /// Unique in the store and never reused.
  let number: Int64
  let name: String
  /// With the indexed system fields under their names in schemas.
  var fields: [String: Field] = [:]
  var systemIndexes: [SystemField: FieldIndexes] = [:]
  var grants = RecordGrants()

  init(number: Int64, name: String) {
    self.number = number
    self.name = name
  }

  var copy: RecordTypeEntry {
    let copy = RecordTypeEntry(number: number, name: name)
    (copy.fields, copy.systemIndexes, copy.grants) = (fields, systemIndexes, grants)
    return copy
  }

  /// Returns nil for a system field without a number in the index, for an unknown field, and for
  /// all text.
  func field(for key: FieldKey) -> Field? {
    switch key {
    case .field(let name): fields[name]
    case .system(let field): fields[field.schemaName]
    case .allText: nil
    }
  }
}

extension ContainerSchema.RecordType {
  /// The options for which the value index must have a system field: those of the schema. The
  /// creator gets `.queryable` if the grants let some users read only the records that they
  /// created.
  func valueIndexes(of field: SystemField) -> FieldIndexes {
    let options = systemIndexes[field] ?? []
    return field == .createdUserRecordName && grants.limitsReadersToOwn
      ? options.union(.queryable) : options
  }
}

extension RecordTypeEntry {
  /// The range of the value index with the records of the type that a user created.
  ///
  /// nil if the database has an owner, if the index of creators is missing or incomplete, or if
  /// the name's key is truncated (``ValueKey/textLimit``).
  func indexOfRecords(
    madeBy userRecordName: String?, at address: DatabaseAddress
  ) -> FieldKeyRange? {
    // In a database with an owner, nearly all records are the owner's, so creators are not indexed.
    guard let userRecordName, address.owner == nil,
      let field = field(for: .system(.createdUserRecordName)), field.indexes.usesValues,
      field.indexWork == nil
    else { return nil }
    let key = ValueKey.key(of: userRecordName)
    // Another user's name may have the same truncated key.
    guard key.count < ValueKey.textLimit else { return nil }
    return FieldKeyRange(field: field.number, range: KeyRange(key))
  }

  var definition: ContainerSchema.RecordType {
    ContainerSchema.RecordType(
      fields: fields.filter { SystemField(anySchemaName: $0.key) == nil }.mapValues {
        ContainerSchema.Field($0.type, isEncrypted: $0.isEncrypted, indexes: $0.indexes)
      },
      systemIndexes: systemIndexes, grants: grants)
  }
}

extension SystemField {
  /// Finds also a field that schemas cannot name.
  init?(anySchemaName name: String) {
    guard let field = Self.allCases.first(where: { $0.schemaName == name }) else { return nil }
    self = field
  }
}

extension ContainerSchema {
  /// The system's record type for shares, which a schema file cannot name.
  static let shareType = "cloudkit.share"
}
