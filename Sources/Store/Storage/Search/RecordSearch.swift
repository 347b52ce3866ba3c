import CloudKitModel
import StoreModel

/// The search for one page of a query's results, in one read transaction.
///
/// A *candidate* is a record that may match the query. The search reads each candidate, and checks
/// all filters on it. So the result is correct whatever the plan of the search. Paths
/// (``AccessPath``), conditions (``SearchCondition``) and plans (``SearchPlan``) only reduce the
/// number of candidates.
struct RecordSearch {
  /// The query, with its limit and its continuation.
  let query: RecordQuery
  /// The database to search.
  let database: DatabaseID
  /// The address of the searched database.
  let address: DatabaseAddress
  let transaction: StoreTransaction
  /// The record type that the query searches.
  let type: RecordTypeEntry
  /// The number of the zone to search; nil to search all zones, and if the database has only one.
  let zoneNumber: Int64?
  /// The scope in which this query's continuation markers are valid.
  let scope: QueryContinuation.Scope
  /// The end of the previous page; nil for the first page.
  let continuation: QueryContinuation?
  /// The caller's rights for records of the type. Records that the caller may not read are not in
  /// the results.
  let access: RecordAccess
  /// The searched zone as a participant of its shares sees it; nil for other callers. Records that
  /// are not shared with the participant are not in the results.
  let shared: SharedZone?
  /// The parts of a record by which the search decides whether and where it is on the page.
  let glance: RecordGlance
  /// The costs of the steps, and the limits of the search.
  let effort: SearchEffort
  /// The paths of the filters (``makePaths()``). Each of them leads to all matches.
  private(set) var paths: [AccessPath] = []

  /// Prepares the search and checks the query.
  ///
  /// The result is nil if no record can match. That is so if the schema does not have a field in
  /// which a match must have a value. It is also so for a type of the system without records.
  ///
  /// - Throws: ``ItemFailure`` if the zone or the type does not exist, the caller may read no records
  ///   of the type, or a filter does not fit the schema; ``StoreError/Code/badContinuation`` for a
  ///   continuation of another query.
  init?(
    _ query: RecordQuery, in database: DatabaseID, at address: DatabaseAddress,
    shared: SharedZone? = nil, transaction: StoreTransaction, effort: SearchEffort
  ) throws {
    self.query = query
    self.effort = effort
    self.database = database
    self.address = address
    self.shared = shared
    self.transaction = transaction
    access = try Self.access(of: query, at: address, transaction: transaction)
    var glance = RecordGlance(for: query.query)
    if access.reach == .own { glance.hasStamps = true }
    self.glance = glance
    zoneNumber = try query.zoneID.flatMap { zoneID in
      guard let number = try ZoneTable(transaction: transaction).number(of: zoneID, in: database)
      else {
        throw try ZoneTombstoneTable(transaction: transaction).missing(
          zoneID, in: database, at: address)
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
      try SchemaRequirements(transaction: transaction).requireSearchableType(
        named: query.query.recordType, at: address)
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

  /// Executes the search, and returns the page, with a continuation marker if more records follow.
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

  /// Returns the caller's rights for records of the query's type.
  ///
  /// - Throws: ``ItemFailure/Code/accessDenied`` if the caller may read no record of the type.
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
  /// - Returns: false if no record can match, because the filter needs a value in a field that no
  ///   record has.
  /// - Throws: ``ItemFailure`` if the filter does not fit the type, or if the field is encrypted.
  private static func check(
    _ filter: Filter, against type: RecordTypeEntry, transaction: StoreTransaction
  ) throws -> Bool {
    let fieldType: FieldType
    switch filter.key {
    case .allText:
      // Writes on other connections may have added fields.
      try RecordTypeTable(transaction: transaction).loadFields(of: type)
      return true
    case .field(let name):
      guard let field = try RecordTypeTable(transaction: transaction).field(name, of: type) else {
        return filter.value == nil || filter.comparator.isNegated
      }
      try checkIsPlain(field, name)
      fieldType = field.type
    case .system(let system):
      // A filter may compare the name of a record or user with a reference.
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

  /// Checks that a sort key fits the type of its field. A field that no record has fits.
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
