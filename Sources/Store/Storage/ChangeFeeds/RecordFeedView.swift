import CloudKitModel
import StoreModel

/// The part of a zone's change feed that a reader may see: the records that the reader may read,
/// and deletions. The reader sees deletions only of types of which the reader may read all records.
///
/// The view finds the visible part of each record type once for a page. The next page follows
/// changes of the reader's permissions.
struct RecordFeedView {
  /// The visible part of one record type.
  private enum Part {
    /// All records, and all deletions.
    case all
    /// The records with these numbers of the value index, and no deletions.
    case numbers(RecordNumberSet)
    /// The records that the reader created, and no deletions. Without a usable index of creators,
    /// the view reads each record.
    case own(RecordAccess)
    case none
  }

  /// Whether the reader may see all changes, whatever the grants of record types. True for
  /// administrators, and for every reader of a private or shared database: grants apply only to
  /// public databases.
  let showsEverything: Bool
  private let database: DatabaseID
  private let address: DatabaseAddress
  private let transaction: StoreTransaction
  private let reader: Caller
  private var parts: [Int64: Part] = [:]

  init(of feed: RecordFeed) {
    showsEverything =
      AccessPolicy.access(of: feed.query.caller, in: feed.address.scope)?.reach == .all
    database = feed.database
    address = feed.address
    transaction = feed.transaction
    reader = feed.query.caller
  }

  mutating func showsAll(ofType number: Int64) throws -> Bool {
    if case .all = try part(number) { true } else { false }
  }

  /// For ``Part/own(_:)``, the call reads the record.
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

  private mutating func part(_ typeNumber: Int64) throws -> Part {
    guard !showsEverything else { return .all }
    if let known = parts[typeNumber] { return known }
    let part = try readPart(typeNumber)
    parts[typeNumber] = part
    return part
  }

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
