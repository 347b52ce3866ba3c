import CloudKitModel
import StoreModel

/// The checks of a record to be saved, which come before the first write. They write nothing.
///
/// A new record that ``RecordCreation`` checked before the transaction does not pass them again.
struct SaveCheck {
  let modification: RecordModification
  let address: DatabaseAddress
  let zone: ZoneModification
  let shared: SharedZone?
  let transaction: StoreTransaction

  /// - Parameters:
  ///   - record: has no new change tag yet.
  ///   - named: the fields that the operation sets. The others were checked when they were saved.
  /// - Throws: ``ItemFailure`` if the record is refused; ``BlockedOperation`` if it needs a record
  ///   that does not exist.
  func save(
    of record: Record, named: [String], over current: StoredRecord?
  ) throws -> RecordSave {
    var record = record
    do {
      try record.validate()
    } catch {
      throw ItemFailure(error)
    }
    let type = try RecordTypeTable(transaction: transaction).type(
      named: record.recordType, at: address)
    let newFields = try fit(&record, named: named, to: type)
    if type == nil || !newFields.isEmpty {
      try SchemaRequirements(transaction: transaction).requireSchema(
        of: record, hasType: type != nil, newFields: newFields.map(\.0), at: address)
      try checkTypes(of: newFields.map(\.0), in: record)
      try RecordTypeTable(transaction: transaction).checkLimit(
        for: record, in: type, newFields: newFields.map(\.0), at: address)
    }
    try AssetCheck(
      user: modification.origin.userRecordName, database: modification.database,
      transaction: transaction
    ).settle(&record, named: named, over: current)
    try ReferenceCheck(
      database: modification.database, address: address, zone: zone, shared: shared,
      transaction: transaction
    ).check(record, named: named, over: current)
    let hierarchy = HierarchyCheck(database: modification.database, transaction: transaction)
    return RecordSave(
      record: record, current: current, zoneNumber: zone.zoneNumber, type: type,
      newFields: newFields,
      hierarchyChange: address.scope == .private
        ? try hierarchy.change(of: record, over: current, inZone: zone.zoneNumber) : nil,
      shareChange: try ShareCheck(
        modification: modification, address: address, zone: zone, transaction: transaction
      ).change(of: record, over: current))
  }

  /// Refuses an empty list in a field that the schema does not have: it does not say which type the
  /// elements will have. Clients give an empty list some type, so the type in a request counts only
  /// for an administrator, whose import has the types of an export. The failure's sentence begins
  /// as iCloud's, because apps look for these words.
  private func checkTypes(of newFields: [String], in record: Record) throws {
    for name in newFields {
      guard case .list(_, let elements)? = record.fields[name], elements.isEmpty,
        !hasTypeOfAdministrator(name, in: record)
      else { continue }
      throw ItemFailure(
        .invalid, field: name,
        "cannot use an empty list to initialize a new field (field '\(name)' in record type "
          + "'\(record.recordType)' should be more precise): record '\(record.recordID)' needs an "
          + "element in the list or no value, or a schema file that has the field")
    }
  }

  private func hasTypeOfAdministrator(_ name: String, in record: Record) -> Bool {
    modification.isByAdministrator
      && modification.operations.contains {
        $0.recordID == record.recordID && !$0.untypedLists.contains(name)
      }
  }

  /// Converts the values of the named fields to the types in the schema, and returns the fields
  /// that the schema does not have yet.
  ///
  /// - Throws: ``ItemFailure/Code/invalid`` for a value of another type, an encrypted value in a
  ///   public database, or an encrypted value of a plain field or the reverse.
  private func fit(
    _ record: inout Record, named: [String], to type: RecordTypeEntry?
  ) throws -> [(String, FieldType)] {
    // Other processes add fields, too.
    if let type, named.contains(where: { type.fields[$0] == nil }) {
      try RecordTypeTable(transaction: transaction).loadFields(of: type)
    }
    var newFields: [(String, FieldType)] = []
    for name in named {
      guard let value = record.fields[name] else { continue }
      let isEncrypted = record.encryptedFields.contains(name)
      if isEncrypted, address.scope == .public {
        throw ItemFailure(
          .invalid, field: name,
          "field '\(name)' of record '\(record.recordID)' cannot be encrypted in the public "
            + "database; only in private and shared ones")
      }
      guard let field = type?.fields[name] else {
        newFields.append((name, value.type))
        continue
      }
      guard field.isEncrypted == isEncrypted else {
        throw ItemFailure(
          .invalid, field: name,
          "field '\(name)' of record type '\(record.recordType)' is "
            + "\(field.isEncrypted ? "" : "not ")encrypted; record '\(record.recordID)' cannot have "
            + "it \(isEncrypted ? "encrypted" : "plain"). Use another field")
      }
      guard let fitted = value.fitted(to: field.type) else {
        throw ItemFailure(
          .invalid, field: name,
          "field '\(name)' of record '\(record.recordID)' is of type \(field.type) in record type "
            + "'\(record.recordType)'; a value of type \(value.type) cannot be saved in it")
      }
      record.fields[name] = fitted
    }
    return newFields
  }
}

/// A checked record to be saved. ``SaveCheck`` makes it.
struct RecordSave {
  /// Without its new change tag. Its values have the types of the schema, and its assets are
  /// reduced to the stored parts.
  var record: Record
  var current: StoredRecord?
  var zoneNumber: Int64
  var type: RecordTypeEntry?
  var newFields: [(String, FieldType)]
  var hierarchyChange: HierarchyChange?
  var shareChange: ShareChange?
}

extension RecordValue {
  /// Returns the value as one of this field type; nil if no conversion is possible. For a field of
  /// doubles, an integer becomes a double, and a list of integers a list of doubles. An empty list
  /// becomes an empty list of the field's type.
  func fitted(to fieldType: FieldType) -> RecordValue? {
    if type == fieldType { return self }
    switch self {
    case .int64(let integer) where fieldType == FieldType(.double):
      return .double(Double(integer))
    case .list(_, let elements) where fieldType.isList && elements.isEmpty:
      return .list(of: fieldType.element, [])
    case .list(.int64, let elements) where fieldType == .list(of: .double):
      return .list(of: .double, elements.compactMap { $0.fitted(to: FieldType(.double)) })
    default:
      return nil
    }
  }
}
