import CloudKitModel
import StoreModel

/// A connection's cache of data that never changes once stored, and of data that is read again
/// when a version has changed, such as schemas.
///
/// It has committed data only: a transaction that changes one of ``tables`` has a catalog of its own
/// (``StoreTransaction/change(_:)``), and who listens is not cached once the transaction has changed
/// it. Each thread has a catalog of its own, so there is no lock.
final class Catalog {
  /// The tables of the data. Rows of `databases` are added with a number of `counters`.
  static let tables = [
    "counters", "zones", "record_types", "record_fields", "system_field_indexes",
    "record_type_grants", "index_work", "security_roles", "role_members", "user_deletions",
  ]

  /// The addresses of at most 50,000 databases; a full cache is emptied. An address never changes.
  var addresses: [DatabaseID: DatabaseAddress] = [:]
  /// The listeners of at most 50,000 databases; a full cache is emptied.
  var listeners: [DatabaseID: Listeners] = [:]
  /// The IDs of at most 50,000 zones; a full cache is emptied. A number is never given to another
  /// zone.
  var zoneIDs: [ZoneKey: ZoneID] = [:]
  var types: [RecordTypeKey: RecordTypeEntry] = [:]
  /// The types by number, with dropped ones, whose numbers tombstones (the rows of deleted
  /// records) still have.
  var typesByNumber: [Int64: RecordTypeEntry] = [:]
  var routes: [DeliveryRoute: DeliveryRoute.ID] = [:]
  /// The roles of at most 50,000 users, with the system's; a full cache is emptied.
  var roles: [MemberKey: Set<String>] = [:]
  var deletedUsers: Set<[UInt8]>?
  /// The catalog version of types, roles and deleted users. The store raises it when one of them
  /// changes (``CounterTable/raiseCatalogVersion()``).
  var version: Int64?

  init(of other: Catalog? = nil) {
    guard let other else { return }
    (addresses, listeners, routes) = (other.addresses, other.listeners, other.routes)
    version = other.version
  }

  func forgetSchemas() {
    types = [:]
    typesByNumber = [:]
    roles = [:]
    deletedUsers = nil
  }

  /// The possible listeners of a database's changes.
  struct Listeners {
    var version: Int64
    var isSubscribed: Bool
    var hasShares: Bool
  }

  /// The key of a zone: its number in a database.
  struct ZoneKey: Hashable {
    var database: DatabaseID
    var number: Int64
  }

  /// The key of a record type: its name in the schema of an environment.
  struct RecordTypeKey: Hashable {
    var container: String
    var environment: ContainerEnvironment
    var name: String
  }

  /// The key of a user's roles in the schema of an environment.
  struct MemberKey: Hashable {
    var container: String
    var environment: ContainerEnvironment
    var userRecordName: String
  }
}
