import CloudKitModel
import StoreModel

/// The search for one page of a query, in one read transaction.
///
/// The search is correct without any planning: it reads each candidate and checks all filters on
/// it. Paths, conditions and plans only spare reading records that cannot match.
struct RecordSearch {
  /// The query, with its limit and its continuation.
  let query: RecordQuery
  /// The database to search.
  let database: DatabaseID
  /// The address of the searched database.
  let address: DatabaseAddress
  let transaction: StoreTransaction
  /// The record type of the query.
  let type: RecordTypeEntry
  /// The zone to search; nil for all zones, or if there is only one.
  let zoneNumber: Int64?
  /// The scope of its continuations.
  let scope: QueryContinuation.Scope
  /// The position after the previous page; nil for the first page.
  let continuation: QueryContinuation?
  /// The records of the type that the caller may read. Other records are invisible.
  let access: RecordAccess
  /// The fields that decide whether and where a record is on the page.
  let glance: RecordGlance
  /// The costs of steps, and the limits.
  let effort: SearchEffort
  /// The paths of the filters, each to all matches, always in the same order.
  private(set) var paths: [AccessPath] = []

  /// Prepares the search and checks the query.
  ///
  /// It is nil if nothing can match: the schema does not have the type, or a field that must have a
  /// value.
  ///
  /// - Throws: ``ItemFailure`` if the zone does not exist, the caller may read no records of the
  ///   type, or a filter does not fit the schema; ``StoreError/Code/badContinuation`` for a
  ///   continuation of another query.
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
        named: query.query.recordType, at: address, "a query cannot search it")
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

  /// Returns the page, with a continuation if there are more records.
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

  /// Returns the caller's access to records of the query's type.
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

  /// Checks that a filter fits the type of its field.
  ///
  /// - Returns: false if no record can pass: the filter needs a value of a field that was never
  ///   saved.
  /// - Throws: ``ItemFailure`` if it does not fit, or if the field is encrypted.
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

  /// Checks that a field is not encrypted.
  ///
  /// - Throws: ``ItemFailure/Code/invalid``.
  private static func checkIsPlain(_ field: RecordTypeEntry.Field, _ name: String) throws {
    guard field.isEncrypted else { return }
    throw ItemFailure(
      .invalid, field: name,
      "field '\(name)' is encrypted: a query cannot search or sort by it")
  }

  /// Checks that a sort key fits its field. A field that was never saved fits.
  ///
  /// - Throws: ``ItemFailure/Code/invalid`` if the field has no order, or is encrypted.
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
