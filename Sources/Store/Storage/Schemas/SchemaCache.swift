import CloudKitModel
import Foundation
import StoreModel

/// What the writer knows of databases and record types, for those who prepare records outside of its
/// transactions. It may be out of date: what was prepared by it bears the schema's version, and counts
/// only in a transaction that finds the same.
final class SchemaCache: @unchecked Sendable {
  /// A record type as it was at a version of the schema. Fields that were added since by saving them
  /// are missing.
  struct RecordType: Sendable {
    var catalogVersion: Int64
    var number: Int64
    var fields: [String: RecordTypeEntry.Field]
  }

  /// That records of a type are made in a database.
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

  /// More databases or types are not kept in mind.
  private static let limit = 50_000

  /// Takes what a transaction has used that is committed.
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

  /// What can be made ready of the operations; empty when nothing can.
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
