import CloudKitModel
import Foundation
import StoreModel

/// The writers' knowledge of databases and record types, for preparing records outside of
/// transactions.
///
/// It may be outdated. A prepared record has the schema's version, and is used only in a
/// transaction that finds the same version. Any thread may call the methods: a lock guards the
/// state.
final class SchemaCache: @unchecked Sendable {
  /// A record type at a version of the schema. Fields that were since added by saving records are
  /// missing.
  struct RecordType: Sendable {
    /// The catalog version at which the type was read.
    var catalogVersion: Int64
    /// The number of the type.
    var number: Int64
    /// The known fields by their names.
    var fields: [String: RecordTypeEntry.Field]
  }

  /// The use of a record type in a database by a committed transaction.
  struct Update {
    var database: DatabaseID
    var address: DatabaseAddress
    /// The name of the type.
    var name: String
    var type: RecordType
  }

  private let lock = NSLock()
  // Guarded by the lock.
  private var addresses: [DatabaseID: DatabaseAddress] = [:]
  private var types: [Catalog.RecordTypeKey: RecordType] = [:]

  /// The most databases, and the most types, that are cached. At the limit, all are dropped.
  private static let limit = 50_000

  /// Adds the types that a committed transaction used.
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
  /// - Returns: for each operation its record, or nil if it was not prepared; empty if none can be
  ///   prepared.
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
  /// Creates the key of a type in the schema of a database's container.
  init(_ name: String, at address: DatabaseAddress) {
    self.init(container: address.container, environment: address.environment, name: name)
  }
}
