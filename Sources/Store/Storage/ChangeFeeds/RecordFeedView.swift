import CloudKitModel
import StoreModel

/// The changes of a zone that a reader may see: records that the reader may read, and deletions of
/// types whose records the reader may all read.
///
/// What a type shows to the reader is found once for each page and kept. A reader whose permissions
/// change between two pages therefore gets the new permissions with the next page.
struct RecordFeedView {
  /// The visible part of one record type.
  private enum Part {
    /// All records, and all deletions.
    case all
    /// The records with these numbers, which the value index found, and no deletions.
    case numbers(RecordNumberSet)
    /// The records that the reader created, found by reading each, and no deletions.
    case own(RecordAccess)
    /// Nothing.
    case none
  }

  /// Whether everything is visible, whatever the types and grants. The value is true for an
  /// administrator, and for every reader of a private or shared database: only public databases
  /// have grants.
  let showsEverything: Bool
  private let database: DatabaseID
  private let address: DatabaseAddress
  private let transaction: StoreTransaction
  private let reader: Caller
  /// The parts found so far, by the numbers of types.
  private var parts: [Int64: Part] = [:]

  /// Creates the view of the feed's reader. The initializer reads no rows.
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

  /// Whether the reader may see a change. For a reader limited to own records without an index of
  /// creators, the call reads the record.
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

  /// The visible part of a type, found at its first use.
  private mutating func part(_ typeNumber: Int64) throws -> Part {
    guard !showsEverything else { return .all }
    if let known = parts[typeNumber] { return known }
    let part = try readPart(typeNumber)
    parts[typeNumber] = part
    return part
  }

  /// Finds the visible part of a type from its grants and the reader's roles.
  private func readPart(_ typeNumber: Int64) throws -> Part {
    let name = try RecordTypeTable(transaction: transaction).name(ofType: typeNumber)
    // The grants of a removed type are not known any more.
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
