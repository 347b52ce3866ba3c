import CloudKitModel
import StoreModel

/// The checks that refuse a request which needs a type, a field or an index that the schema does
/// not have.
///
/// In a fixed environment (``StoreConfiguration/fixedEnvironments``), saving a record creates no
/// type or field, except for the system's types. An administrator must deploy all others. The
/// checks of what is saved refuse nothing in other environments; those of queries and indexes apply
/// in each environment.
///
/// Each refusal is an ``ItemFailure`` that names the field. If a command repairs the schema, the
/// reason in the failure names the command.
struct SchemaRequirements {
  let transaction: StoreTransaction

  /// Returns whether the environment of an address is fixed.
  func isFixed(_ address: DatabaseAddress) -> Bool {
    transaction.context.fixedEnvironments.contains(address.environment)
  }

  /// Refuses a record whose type or fields are missing in a fixed environment. Shares are never
  /// refused. The type `Users` needs no deployment, but its fields do.
  ///
  /// - Parameters:
  ///   - record: the record to be saved.
  ///   - hasType: whether the schema has the type of the record.
  ///   - newFields: the fields that the schema lacks.
  ///   - address: the address of the database.
  /// - Throws: ``ItemFailure/Code/invalid``.
  func requireSchema(
    of record: Record, hasType: Bool, newFields: [String], at address: DatabaseAddress
  ) throws {
    let typeName = record.recordType
    guard isFixed(address), typeName != ContainerSchema.shareType else { return }
    if !hasType {
      try requireType(
        named: typeName, at: address, "record '\(record.recordID)' cannot be saved")
    }
    guard let name = newFields.first else { return }
    let names = newFields.map { "'\($0)'" }.joined(separator: ", ")
    throw missing(
      "\(newFields.count == 1 ? "field" : "fields") \(names) of record type '\(typeName)'",
      at: address, field: name, "record '\(record.recordID)' cannot be saved")
  }

  /// Refuses a record type that is missing in a fixed environment. The system's types are never
  /// refused.
  ///
  /// - Parameters:
  ///   - name: the name of the missing type.
  ///   - address: the address of the database.
  ///   - consequence: the end of the failure's sentence, such as `a query cannot search it`.
  /// - Throws: ``ItemFailure/Code/invalid``.
  func requireType(
    named name: String, at address: DatabaseAddress, _ consequence: String
  ) throws {
    guard isFixed(address), !ContainerSchema.systemTypes.contains(name) else { return }
    throw missing("record type '\(name)'", at: address, field: "recordType", consequence)
  }

  /// Refuses the query of a record type that the schema does not have, in each environment. The
  /// system's types are never refused.
  ///
  /// The failure's sentence begins as iCloud's, because apps look for these words.
  ///
  /// - Throws: ``ItemFailure/Code/notFound``.
  func requireSearchableType(named name: String, at address: DatabaseAddress) throws {
    guard !ContainerSchema.systemTypes.contains(name) else { return }
    let remedy =
      isFixed(address)
      ? "create it in development and run: petrel schema deploy --container \(address.container)"
      : "the first save of such a record creates it"
    throw ItemFailure(
      .notFound, field: "recordType",
      "Did not find record type: \(name). It is not in the \(address.environment.rawValue) schema "
        + "of \(address.container); \(remedy)")
  }

  /// Returns the failure for a type or field that is missing in a fixed environment.
  ///
  /// - Parameters:
  ///   - what: the missing type or field, with which the failure's sentence begins.
  ///   - address: the address of the database.
  ///   - field: the name for ``ItemFailure/field``.
  ///   - consequence: the end of the sentence.
  func missing(
    _ what: String, at address: DatabaseAddress, field: String, _ consequence: String
  ) -> ItemFailure {
    let environment = address.environment.rawValue
    return ItemFailure(
      .invalid, field: field,
      "\(what) is not in the \(environment) schema of \(address.container), so \(consequence); "
        + "create it in development and run: petrel schema deploy --container \(address.container)")
  }

  /// Refuses a search by a filter or sort key that needs an index which the schema does not have.
  /// For a search without filters, the record name must have the option `.queryable`.
  ///
  /// - Throws: ``ItemFailure/Code/invalid`` without the index, ``ItemFailure/Code/notReady`` while
  ///   the index is being built.
  func requireIndexes(
    forSearch query: Query, in type: RecordTypeEntry, at address: DatabaseAddress
  ) throws {
    try requireIndexes(for: query, in: type, at: address)
    guard query.filters.isEmpty else { return }
    try require(.system(.recordName), oneOf: [.queryable], in: type, at: address)
  }

  /// Refuses a filter or sort key on a field without the index that it needs.
  ///
  /// Some filters need an option that a field of this type can never have. This method accepts such
  /// a filter, because the caller's check of the field's type refuses it.
  ///
  /// - Throws: ``ItemFailure/Code/invalid`` without the index, ``ItemFailure/Code/notReady`` while
  ///   the index is being built.
  func requireIndexes(
    for query: Query, in type: RecordTypeEntry, at address: DatabaseAddress
  ) throws {
    for filter in query.filters
    where filter.value == nil || canMark(filter.key, filter.usableIndexes, in: type) {
      try require(filter.key, oneOf: filter.usableIndexes, in: type, at: address)
    }
    for sortKey in query.sortKeys where canMark(sortKey.key, sortKey.usableIndexes, in: type) {
      try require(sortKey.key, oneOf: sortKey.usableIndexes, in: type, at: address)
    }
  }

  /// Returns whether a schema can give the field one of these options with an effect. The result is
  /// true for an unknown field.
  private func canMark(
    _ key: FieldKey, _ usable: FieldIndexes, in type: RecordTypeEntry
  ) -> Bool {
    guard case .field(let name) = key, let field = type.fields[name] else { return true }
    return !FieldIndexes.implicit(for: field.type, isEncrypted: field.isEncrypted)
      .isDisjoint(with: usable)
  }

  /// Refuses a filter or sort key on a field that has none of these options, or whose index is
  /// still being built. Parents and shares are never refused.
  ///
  /// An unknown field is refused in a fixed environment only. In other environments no record has a
  /// value in the field yet.
  private func require(
    _ key: FieldKey, oneOf usable: FieldIndexes, in type: RecordTypeEntry,
    at address: DatabaseAddress
  ) throws {
    let indexes: FieldIndexes
    var ready: FieldIndexes
    switch key {
    case .system(.parent), .system(.share):
      return
    case .system(let system):
      indexes = type.systemIndexes[system] ?? []
      ready =
        RecordTypeEntry.systemFieldsIndexedByOption.contains(system)
        ? indexes.intersection(type.field(for: key)?.readyIndexes ?? []) : indexes
    case .field(let name):
      guard let field = try RecordTypeTable(transaction: transaction).field(name, of: type) else {
        guard isFixed(address) else { return }
        throw missing(
          "field '\(name)' of record type '\(type.name)'", at: address, field: name,
          "a query cannot search or sort by it")
      }
      indexes = field.indexes
      ready = field.readyIndexes
    case .allText:
      let texts = type.fields.values.filter { $0.type.element == .string && !$0.isEncrypted }
      if texts.isEmpty { return }
      indexes = texts.reduce(into: []) { $0.formUnion($1.indexes) }
      ready = indexes
      for field in texts where field.indexes.contains(.searchable) {
        ready.formIntersection(field.readyIndexes.union([.queryable, .sortable]))
      }
    }
    guard ready.isDisjoint(with: usable) else { return }
    let name = usable.optionName
    let schemaName =
      switch key {
      case .field(let field): "'\(field)'"
      case .system(let field): "'\(field.schemaName)'"
      case .allText: "every text that the query searches"
      }
    guard indexes.isDisjoint(with: usable) else {
      throw ItemFailure(
        .notReady, field: key.description,
        "Field '\(key)' of record type '\(type.name)' was marked \(name), and its index is not built "
          + "yet; try again later")
    }
    throw ItemFailure(
      .invalid, field: key.description,
      "Field '\(key)' is not marked \(name) in record type '\(type.name)' of the "
        + "\(address.environment.rawValue) schema; mark \(schemaName) in a schema file and run: petrel "
        + "schema import FILE --container \(address.container)"
        + (address.environment == .production
          ? ", then petrel schema deploy --container \(address.container)" : ""))
  }
}

extension RecordTypeEntry.Field {
  /// The options whose indexes are complete.
  fileprivate var readyIndexes: FieldIndexes {
    var ready = indexes
    if indexWork != nil { ready.subtract([.queryable, .sortable]) }
    if wordIndexWork != nil { ready.remove(.searchable) }
    return ready
  }
}

extension FieldIndexes {
  /// The name of the option that the failure recommends.
  fileprivate var optionName: String {
    contains(.queryable) ? "queryable" : contains(.sortable) ? "sortable" : "searchable"
  }
}
