import CloudKitModel
import StoreModel

/// The search for one page of a query's results, in one read transaction.
///
/// A *candidate* is a record that may match. The search reads each candidate and checks all
/// filters, so the result is correct whatever the plan. Paths (``AccessPath``), conditions
/// (``SearchCondition``) and plans (``SearchPlan``) only reduce the number of candidates.
struct RecordSearch {
  let query: RecordQuery
  let database: DatabaseID
  let address: DatabaseAddress
  let transaction: StoreTransaction
  let type: RecordTypeEntry
  /// The zone; nil to search all zones, and if the database has only one.
  let zoneNumber: Int64?
  let scope: QueryContinuation.Scope
  let continuation: QueryContinuation?
  let access: RecordAccess
  /// Records that are not shared with the participant are not in the results.
  let shared: SharedZone?
  /// Decides whether and where a record is on the page.
  let projection: RecordProjection
  let effort: SearchEffort
  private(set) var paths: [AccessPath] = []

  /// Returns nil if the schema does not have a field in which a match must have a value, or a type
  /// of the system has no records.
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
    var projection = RecordProjection(for: query.query)
    if access.reach == .own { projection.hasStamps = true }
    self.projection = projection
    zoneNumber = try query.zoneID.flatMap { zoneID in
      guard let number = try ZoneTable(transaction: transaction).number(of: zoneID, in: database)
      else {
        throw try ZoneTombstoneTable(transaction: transaction).missing(
          zoneID, in: database, at: address)
      }
      return try ZoneTable(transaction: transaction).hasSeveral(in: database) ? number : nil
    }
    let scope = QueryContinuation.Scope(query: query, database: database, reach: access.reach)
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

  /// Returns false if the filter needs a value in a field that no record has.
  ///
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

  private static func checkIsPlain(_ field: RecordTypeEntry.Field, _ name: String) throws {
    guard field.isEncrypted else { return }
    throw ItemFailure(
      .invalid, field: name,
      "field '\(name)' is encrypted: a query cannot search or sort by it")
  }

  /// A field that no record has fits.
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
