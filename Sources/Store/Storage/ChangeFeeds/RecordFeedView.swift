import CloudKitModel
import StoreModel

/// The part of a zone's change feed that a reader may see: the records that the reader may read,
/// and deletions. The reader sees deletions only of types of which the reader may read all records.
///
/// The view finds the visible part of each record type once for a page. If the reader's permissions
/// change between two pages, the next page follows the new permissions.
struct RecordFeedView {
  /// The visible part of one record type.
  private enum Part {
    /// All records, and all deletions.
    case all
    /// The records with these numbers, and no deletions. The numbers are from the value index
    /// (``ValueIndexTable``).
    case numbers(RecordNumberSet)
    /// The records that the reader created, and no deletions. There is no usable index of creators,
    /// so the view reads each record to see its creator.
    case own(RecordAccess)
    /// Nothing.
    case none
  }

  /// Whether the reader may see all changes, whatever the record types and their grants. A grant is
  /// the permission of a role to read or write the records of a type. The value is true for an
  /// administrator, and for every reader of a private or shared database: grants apply only to
  /// public databases.
  let showsEverything: Bool
  private let database: DatabaseID
  private let address: DatabaseAddress
  private let transaction: StoreTransaction
  private let reader: Caller
  /// The visible parts found so far, by the numbers of the record types.
  private var parts: [Int64: Part] = [:]

  /// Creates the view for the reader of a feed. The initializer reads no rows.
  init(of feed: RecordFeed) {
    showsEverything =
      AccessPolicy.access(of: feed.query.caller, in: feed.address.scope)?.reach == .all
    database = feed.database
    address = feed.address
    transaction = feed.transaction
    reader = feed.query.caller
  }

  /// Whether the reader may see all records of a type and their deletions.
  mutating func showsAll(ofType number: Int64) throws -> Bool {
    if case .all = try part(number) { true } else { false }
  }

  /// Whether the reader may see a change. If the reader may see only records that the reader
  /// created, and the type has no usable index of creators, the call reads the record.
  mutating func shows(_ candidate: RecordFeed.Candidate) throws -> Bool {
    switch (try part(candidate.typeNumber), candidate.subject) {
    case (.all, _): return true
    case (.none, _), (_, .tombstone): return false
    case (.numbers(let numbers), .record(let number)): return numbers.contains(number)
    case (.own(let access), .record(let number)):
      return access.mayRead(
        try RecordTable(transaction: transaction).record(numbered: number, in: database).record)
    }
  }

  /// Returns the visible part of a type. The first call for a type finds the part, later calls
  /// return the same one.
  private mutating func part(_ typeNumber: Int64) throws -> Part {
    guard !showsEverything else { return .all }
    if let known = parts[typeNumber] { return known }
    let part = try readPart(typeNumber)
    parts[typeNumber] = part
    return part
  }

  /// Finds the visible part of a type by its grants and the reader's roles.
  private func readPart(_ typeNumber: Int64) throws -> Part {
    let name = try RecordTypeTable(transaction: transaction).name(ofType: typeNumber)
    // The store does not know the grants of a removed type any more.
    guard let type = try RecordTypeTable(transaction: transaction).type(named: name, at: address)
    else {
      return .none
    }
    let access = try AccessPolicy.access(
      of: reader, toType: name, at: address, in: transaction)
    switch access.reach {
    case .all: return .all
    case .none: return .none
    case .own:
      guard let index = type.indexOfRecords(madeBy: reader.userRecordName, at: address) else {
        return .own(access)
      }
      var numbers = RecordNumberSet()
      try ValueIndexTable(transaction: transaction).visitNumbers(
        with: index.range.lower, inField: index.field, of: database
      ) { numbers.insert($0) }
      return .numbers(numbers)
    }
  }
}
