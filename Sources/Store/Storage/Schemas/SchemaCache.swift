import CloudKitModel
import Foundation
import StoreModel

/// A cache of the record types and database addresses that recent writes have used. With it,
/// records are prepared outside of transactions (``RecordCreation``).
///
/// The cache may be outdated, so a transaction uses a prepared record only if it finds the catalog
/// version with which its type was read.
///
/// Any thread may call the methods: a lock guards the state.
final class SchemaCache: @unchecked Sendable {
  /// A record type as one transaction has seen it. Fields that later saves have added may be
  /// missing, because they do not raise the catalog version.
  struct RecordType: Sendable {
    var catalogVersion: Int64
    var number: Int64
    var fields: [String: RecordTypeEntry.Field]
  }

  /// A record type that a committed transaction has used in a database.
  struct Update {
    var database: DatabaseID
    var address: DatabaseAddress
    var name: String
    var type: RecordType
  }

  private let lock = NSLock()
  // Guarded by the lock.
  private var addresses: [DatabaseID: DatabaseAddress] = [:]
  private var types: [Catalog.RecordTypeKey: RecordType] = [:]

  /// The databases, or types, at which all are removed before the next are added.
  private static let limit = 50_000

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

  /// On the caller's thread. Returns a prepared record or nil for each operation; empty if no
  /// operation is a `create`, or if the database is not in the cache.
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
  init(_ name: String, at address: DatabaseAddress) {
    self.init(container: address.container, environment: address.environment, name: name)
  }
}
