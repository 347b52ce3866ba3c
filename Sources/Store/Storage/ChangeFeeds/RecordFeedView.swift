import CloudKitModel
import StoreModel

/// The changes of a zone that a reader may see: records that the reader may read, and deletions of
/// types whose records the reader may all read.
struct RecordFeedView {
  /// The visible part of one type.
  private enum Part {
    case all
    /// The records with these numbers.
    case numbers(RecordNumberSet)
    /// The records that the reader created, found by reading each.
    case own(RecordAccess)
    case none
  }

  /// Whether everything is visible, whatever the types and grants.
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
