import CloudKitModel
import Foundation

/// What one of the store's threads works with: its connection, and what it knows by heart.
final class StoreSession {
  let connection: any SQLConnection
  let makeUUID: @Sendable () -> UUID
  /// The changes written in the transaction so far, in order.
  var outbox: [OutboxEntry] = []
  var catalog = Catalog()

  init(connection: any SQLConnection, makeUUID: @escaping @Sendable () -> UUID) {
    self.connection = connection
    self.makeUUID = makeUUID
  }

  /// Drops what may have been learnt from rows that were rolled back.
  func forgetUncommitted() {
    catalog = Catalog()
  }

  /// The next number of one of the store-wide counters.
  func nextCounter(_ name: String) throws -> Int64 {
    let value = try connection.first(
      "UPDATE counters SET value = value + 1 WHERE name = $1 RETURNING value", [.text(name)]
    ) { $0.integer(0) }
    guard let value else { throw StoreError(.corrupt, "the store has no counter '\(name)'") }
    return value
  }
}

/// What never changes once it is in the store, so that it need not be read twice.
struct Catalog {
  var addresses: [DatabaseID: DatabaseAddress] = [:]
  var zoneIDs: [ZoneKey: ZoneID] = [:]
  var types: [RecordTypeKey: RecordTypeEntry] = [:]
  var typesByNumber: [Int64: RecordTypeEntry] = [:]

  struct ZoneKey: Hashable {
    var database: DatabaseID
    var number: Int64
  }

  struct RecordTypeKey: Hashable {
    var container: String
    var environment: ContainerEnvironment
    var name: String
  }
}

/// A record type as the schema knows it. Fields are added as they become known.
final class RecordTypeEntry {
  struct Field {
    var number: Int64
    var type: FieldType
    /// Whether its values are marked as encrypted, so that nothing can search for them.
    var isEncrypted = false
  }

  let number: Int64
  let name: String
  var fields: [String: Field] = [:]

  init(number: Int64, name: String) {
    self.number = number
    self.name = name
  }

  func field(for key: FieldKey) -> Field? {
    switch key {
    case .field(let name): fields[name]
    case .system(let field): fields[field.schemaName]
    case .allText: nil
    }
  }
}
