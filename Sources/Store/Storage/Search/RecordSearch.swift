import CloudKitModel
import StoreModel

/// One page of a query.
struct RecordSearch {
  let query: RecordQuery
  let database: DatabaseID
  let address: DatabaseAddress
  let transaction: StoreTransaction
  let type: RecordTypeEntry
  /// The zone to search; nil for all zones, or if there is only one.
  let zoneNumber: Int64?
  /// The scope of its continuations.
  let scope: QueryContinuation.Scope
  let continuation: QueryContinuation?
  /// The records of the type that the caller may read. Other records are invisible.
  let access: RecordAccess
  /// The fields that decide whether and where a record is on the page.
  let glance: RecordGlance
  let effort: SearchEffort
  /// Paths to all matches.
  private(set) var paths: [AccessPath] = []

  /// Nil if nothing can match: the schema does not have the type, or a field that must have a
  /// value.
  init?(
    _ query: RecordQuery, in database: DatabaseID, at address: DatabaseAddress,
    transaction: StoreTransaction, effort: SearchEffort
  ) throws {
    self.query = query
    self.effort = effort
    self.database = database
    self.address = address
    self.transaction = transaction
    access = try Self.access(of: query, at: address, transaction: transaction)
    var glance = RecordGlance(for: query.query)
    if access.reach == .own { glance.hasStamps = true }
    self.glance = glance
    zoneNumber = try query.zoneID.flatMap { zoneID in
      guard let number = try ZoneTable(transaction: transaction).number(of: zoneID, in: database)
      else {
        throw ItemFailure(.zoneNotFound, field: "zoneID", "there is no zone '\(zoneID)'")
      }
      return try ZoneTable(transaction: transaction).hasSeveral(in: database) ? number : nil
    }
    let scope = QueryContinuation.Scope(query, in: database, reach: access.reach)
    self.scope = scope
    continuation = try query.continuation.map {
      try QueryContinuation($0, of: scope, sealedBy: transaction.context.tokens)
    }
    guard
      let type = try RecordTypeTable(transaction: transaction).type(
        named: query.query.recordType, at: address)
    else {
      try SchemaRequirements(transaction: transaction).requireType(
        named: query.query.recordType, at: address, "there is nothing to search")
      return nil
    }
    self.type = type
    try SchemaRequirements(transaction: transaction).requireIndexes(
      forSearch: query.query, in: type, at: address)
    for filter in query.query.filters {
      guard try Self.check(filter, against: type, transaction: transaction) else { return nil }
    }
    for sortKey in query.query.sortKeys {
      try Self.check(sortKey, against: type, transaction: transaction)
    }
    paths = makePaths()
  }

  func run() throws -> RecordPage {
    if query.query.sortKeys.isEmpty, let page = try scannedPage() { return page }
    var search = try SortedSearch(self)
    if let continuation {
      guard case .sorted(let place) = continuation else { throw QueryContinuation.foreign }
      search.collector.start = place
    }
    let (rows, end) = try search.run()
    return RecordPage(
      records: try records(rows),
      continuation: try end.map {
        try QueryContinuation.sorted($0).text(of: scope, sealedBy: transaction.context.tokens)
      })
  }

  /// The caller's access to records of the query's type.
  ///
  /// - Throws: ``ItemFailure/Code/accessDenied`` if the caller may read none of them.
  private static func access(
    of query: RecordQuery, at address: DatabaseAddress, transaction: StoreTransaction
  ) throws -> RecordAccess {
    let type = query.query.recordType
    let access = try AccessPolicy.access(
      of: query.caller, toType: type, at: address, in: transaction)
    if let refusal = access.refusal(ofQuerying: type) {
      throw ItemFailure(
        .accessDenied, field: "recordType",
        "records of type '\(type)' cannot be read: \(refusal.reason())")
    }
    return access
  }

  /// False if no record can pass: the filter needs a value of a field that was never saved.
  private static func check(
    _ filter: Filter, against type: RecordTypeEntry, transaction: StoreTransaction
  ) throws -> Bool {
    let fieldType: FieldType
    switch filter.key {
    case .allText:
      // Other connections may have added fields.
      try RecordTypeTable(transaction: transaction).loadFields(of: type)
      return true
    case .field(let name):
      guard let field = try RecordTypeTable(transaction: transaction).field(name, of: type) else {
        return filter.value == nil || filter.comparator.isNegated
      }
      try checkIsPlain(field, name)
      fieldType = field.type
    case .system(let system):
      // Names of records and users may be given as references.
      if system.type == .string, filter.value?.type.element == .reference { return true }
      fieldType = FieldType(system.type)
    }
    do {
      try filter.validate(against: fieldType)
    } catch {
      throw ItemFailure(error)
    }
    return true
  }

  private static func checkIsPlain(_ field: RecordTypeEntry.Field, _ name: String) throws {
    guard field.isEncrypted else { return }
    throw ItemFailure(
      .invalid, field: name,
      "field '\(name)' is encrypted: nothing can be searched or sorted by it")
  }

  private static func check(
    _ sortKey: SortKey, against type: RecordTypeEntry, transaction: StoreTransaction
  ) throws {
    let fieldType: FieldType
    switch sortKey.key {
    case .allText: return
    case .system(let system): fieldType = FieldType(system.type)
    case .field(let name):
      guard let field = try RecordTypeTable(transaction: transaction).field(name, of: type) else {
        return
      }
      try checkIsPlain(field, name)
      fieldType = field.type
    }
    let isFit =
      sortKey.relativeLocation == nil
      ? fieldType.element.isOrdered && !fieldType.isList : fieldType == FieldType(.location)
    guard !isFit else { return }
    throw ItemFailure(
      .invalid, field: sortKey.key.description,
      sortKey.relativeLocation == nil
        ? "'\(sortKey.key)' is of type \(fieldType), which has no order; sort by a string, a number "
          + "or a timestamp"
        : "'\(sortKey.key)' is of type \(fieldType); only a location can be sorted by distance")
  }
}
