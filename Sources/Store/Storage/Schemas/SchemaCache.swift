import CloudKitModel
import Foundation
import StoreModel

/// A cache of the record types and database addresses that recent writes have used. With it,
/// records are prepared outside of transactions (``RecordCreation``).
///
/// The cache may be outdated. A prepared record therefore has the catalog version of its type: a
/// number that rises when schemas change. A transaction uses the prepared record only if it finds
/// the same catalog version.
///
/// Any thread may call the methods: a lock guards the state.
final class SchemaCache: @unchecked Sendable {
  /// A record type as one transaction has seen it. Fields that later saves of records have added
  /// may be missing: such a save does not raise the catalog version.
  struct RecordType: Sendable {
    /// The catalog version at which the type was read.
    var catalogVersion: Int64
    /// The number of the type in ``RecordTypeTable``.
    var number: Int64
    /// The known fields by their names.
    var fields: [String: RecordTypeEntry.Field]
  }

  /// An addition to the cache: a record type that a committed transaction has used, and the
  /// database in which it was used.
  struct Update {
    var database: DatabaseID
    var address: DatabaseAddress
    /// The name of the record type.
    var name: String
    var type: RecordType
  }

  private let lock = NSLock()
  // Guarded by the lock.
  private var addresses: [DatabaseID: DatabaseAddress] = [:]
  private var types: [Catalog.RecordTypeKey: RecordType] = [:]

  /// The number of cached databases at which all are removed before the next are added. The same
  /// limit holds for types.
  private static let limit = 50_000

  /// Adds the types that a committed transaction has used.
  func add(_ updates: [Update]) {
    guard !updates.isEmpty else { return }
    lock.withLock {
      if addresses.count >= Self.limit { addresses = [:] }
      if types.count >= Self.limit { types = [:] }
      for update in updates {
        addresses[update.database] = update.address
        types[Catalog.RecordTypeKey(update.name, at: update.address)] = update.type
      }
    }
  }

  /// Prepares the records of the operations, on the caller's thread.
  ///
  /// - Returns: for each operation its prepared record, or nil if none was prepared. The array is
  ///   empty if no operation is a `create`, or if the database is not in the cache.
  func creations(for modification: RecordModification) -> [RecordCreation?] {
    guard modification.operations.contains(where: { $0.kind == .create }),
      let address = lock.withLock({ addresses[modification.database] })
    else { return [] }
    var latest: (name: String, type: RecordType?)?
    return modification.operations.map { operation in
      guard operation.kind == .create, let name = operation.recordType else { return nil }
      if latest?.name != name {
        let key = Catalog.RecordTypeKey(name, at: address)
        latest = (name, lock.withLock { types[key] })
      }
      guard let type = latest?.type else { return nil }
      return RecordCreation(of: operation, in: modification, type: type, at: address)
    }
  }
}

extension Catalog.RecordTypeKey {
  /// Creates the key of a type in the schema for the database at this address.
  init(_ name: String, at address: DatabaseAddress) {
    self.init(container: address.container, environment: address.environment, name: name)
  }
}
