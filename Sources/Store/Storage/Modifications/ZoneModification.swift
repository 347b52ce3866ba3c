import CloudKitModel
import StoreModel

/// The operations of a request on one zone, and how far they have been carried out.
struct ZoneModification {
  let zoneID: ZoneID
  let zoneNumber: Int64
  let indexes: [Int]
  /// Whether an attempt at an operation failed, even if a later attempt at the same operation
  /// succeeded.
  var hasFailure: Bool
  /// The names of the request's new shares, by those of their root records.
  private(set) var sharedRoots: [String: String] = [:]
  private(set) var pairs: [Int: Pair] = [:]
  /// By the index of an operation, the names of the records of which one must change first.
  var waiting: [Int: Set<String>] = [:]

  /// The operations on a root record and on its new share.
  struct Pair {
    var root: Int
    var share: Int
    var first: Int { min(root, share) }
  }

  mutating func findPairs(
    in modification: RecordModification, _ transaction: StoreTransaction
  ) throws {
    let operations = modification.operations
    for share in indexes {
      guard let root = operations[share].shareContent?.root?.recordName,
        operations[share].kind.isSave
      else { continue }
      let name = operations[share].recordID.recordName
      let isKnown = try RecordTable(transaction: transaction).contains(
        name, inZone: zoneNumber, of: modification.database)
      let index = indexes.first {
        operations[$0].recordID.recordName == root && operations[$0].kind.isSave
      }
      guard !isKnown, let index, index != share else { continue }
      sharedRoots[root] = name
      pairs[index] = Pair(root: index, share: share)
      pairs[share] = pairs[index]
    }
  }

  mutating func takeWaiting(for recordNames: [String]) -> [Int] {
    let indexes = waiting.keys.filter { index in
      recordNames.contains { waiting[index]?.contains($0) == true }
    }
    for index in indexes { waiting[index] = nil }
    return indexes.sorted()
  }
}

/// The error of an operation that another operation of the request may make possible. For example,
/// the record's parent does not exist yet, or the record to delete is still the parent of another
/// one.
struct BlockedOperation: Error {
  /// Records in the zone of the operation. It may become possible when another operation creates,
  /// changes or deletes one of them.
  var recordNames: [String]
  var failure: ItemFailure
}

extension RecordOperation.Kind {
  fileprivate var isSave: Bool {
    switch self {
    case .create, .update, .forceUpdate, .replace, .forceReplace: true
    case .delete, .forceDelete: false
    }
  }
}
