import CloudKitModel
import StoreModel

/// The checks that refuse requests which need more than the schema has.
///
/// A fixed environment (``StoreConfiguration/fixedEnvironments``) has only the types and fields
/// that were deployed to it. These checks run only when something new would be created.
///
/// Each refusal is an ``ItemFailure``. It names the field, and the command that repairs the schema
/// if there is one.
struct SchemaRequirements {
  let transaction: StoreTransaction

  /// Returns whether the schema at an address is fixed.
  func isFixed(_ address: DatabaseAddress) -> Bool {
    transaction.context.fixedEnvironments.contains(address.environment)
  }

  /// Refuses a record whose type or fields a fixed schema lacks. The users' own record type and
  /// shares need no deployment.
  ///
  /// - Parameters:
  ///   - record: the record to be saved.
  ///   - hasType: whether the schema has its type.
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

  /// Refuses a record type that a fixed schema lacks.
  ///
  /// - Parameters:
  ///   - name: the name of the type, which the schema lacks.
  ///   - address: the address of the database.
  ///   - consequence: the end of the sentence, such as `a query cannot search it`.
  /// - Throws: ``ItemFailure/Code/invalid``.
  func requireType(
    named name: String, at address: DatabaseAddress, _ consequence: String
  ) throws {
    guard isFixed(address), !ContainerSchema.systemTypes.contains(name) else { return }
    throw missing("record type '\(name)'", at: address, field: "recordType", consequence)
  }

  /// Returns the refusal of an item that a fixed schema lacks.
  ///
  /// - Parameters:
  ///   - what: the missing item, with which the sentence begins.
  ///   - address: the address of the database.
  ///   - field: the field of the failure.
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

  /// Refuses a search whose filters and sort keys need an index that the schema does not have. A
  /// search without filters needs the index of the record name.
  ///
  /// - Throws: ``ItemFailure/Code/invalid``, or ``ItemFailure/Code/notReady`` while the index is
  ///   being built.
  func requireIndexes(
    forSearch query: Query, in type: RecordTypeEntry, at address: DatabaseAddress
  ) throws {
    try requireIndexes(for: query, in: type, at: address)
    guard query.filters.isEmpty else { return }
    try require(.system(.recordName), oneOf: [.queryable], in: type, at: address)
  }

  /// Refuses filters and sorts on fields without the index for them. An operation that no field of
  /// the type can support is left to the type checks.
  ///
  /// - Throws: ``ItemFailure/Code/invalid``, or ``ItemFailure/Code/notReady`` while the index is
  ///   being built.
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

  /// Returns whether a schema could mark the field for such an operation. An unknown field counts
  /// as one that could be.
  private func canMark(
    _ key: FieldKey, _ usable: FieldIndexes, in type: RecordTypeEntry
  ) -> Bool {
    guard case .field(let name) = key, let field = type.fields[name] else { return true }
    return !field.isEncrypted && !FieldIndexes.allowed(for: field.type).isDisjoint(with: usable)
  }

  /// Refuses a filter or sort on a field of the type that has none of these options, or whose index
  /// is still being built.
  ///
  /// An unknown field is refused in fixed environments; elsewhere it has no values yet.
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
  /// The name of the option to request first.
  fileprivate var optionName: String {
    contains(.queryable) ? "queryable" : contains(.sortable) ? "sortable" : "searchable"
  }
}
