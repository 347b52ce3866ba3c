import CloudKitModel
import StoreModel

/// The refusals of requests that need a missing type, field or index.
///
/// In a fixed environment (``StoreConfiguration/fixedEnvironments``), saving a record creates no
/// type or field, except for the system's types: an administrator must deploy all others. The checks
/// of saves apply only there, those of queries and indexes everywhere.
///
/// Each refusal names the field, and a command that repairs the schema if there is one.
struct SchemaRequirements {
  let transaction: StoreTransaction

  func isFixed(_ address: DatabaseAddress) -> Bool {
    transaction.context.fixedEnvironments.contains(address.environment)
  }

  /// Shares are never refused. The type `Users` needs no deployment, but its fields do.
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

  /// The system's types are never refused.
  ///
  /// - Parameter consequence: the end of the failure's sentence, such as `a query cannot search
  ///   it`.
  /// - Throws: ``ItemFailure/Code/invalid``.
  func requireType(
    named name: String, at address: DatabaseAddress, _ consequence: String
  ) throws {
    guard isFixed(address), !ContainerSchema.systemTypes.contains(name) else { return }
    throw missing("record type '\(name)'", at: address, field: "recordType", consequence)
  }

  /// In each environment. The system's types are never refused.
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

  /// `what` begins the sentence of the failure, and `consequence` ends it.
  func missing(
    _ what: String, at address: DatabaseAddress, field: String, _ consequence: String
  ) -> ItemFailure {
    let environment = address.environment.rawValue
    return ItemFailure(
      .invalid, field: field,
      "\(what) is not in the \(environment) schema of \(address.container), so \(consequence); "
        + "create it in development and run: petrel schema deploy --container \(address.container)")
  }

  /// A search without filters needs the option `.queryable` for the record name.
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

  /// Accepts a filter that needs an option which a field of this type can never have: the caller's
  /// check of the field's type refuses it.
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

  /// Whether a schema can give the field one of these options with an effect; true for an unknown
  /// field.
  private func canMark(
    _ key: FieldKey, _ usable: FieldIndexes, in type: RecordTypeEntry
  ) -> Bool {
    guard case .field(let name) = key, let field = type.fields[name] else { return true }
    return !FieldIndexes.implicit(for: field.type, isEncrypted: field.isEncrypted)
      .isDisjoint(with: usable)
  }

  /// The index must be complete, too. Parents and shares are never refused. An unknown field is
  /// refused in a fixed environment only: elsewhere no record has a value in it yet.
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
  fileprivate var readyIndexes: FieldIndexes {
    var ready = indexes
    if indexWork != nil { ready.subtract([.queryable, .sortable]) }
    if wordIndexWork != nil { ready.remove(.searchable) }
    return ready
  }
}

extension FieldIndexes {
  fileprivate var optionName: String {
    contains(.queryable) ? "queryable" : contains(.sortable) ? "sortable" : "searchable"
  }
}
