import CloudKitModel
import StoreModel

/// A connection's cache of data that never changes once stored, and of data that is read again when
/// a version has changed, such as schemas.
///
/// Transactions fill the cache while they run, so the rollback of one that has written what is cached
/// empties the cache. Each reading or
/// writing thread has a catalog of its own, so the catalog needs no lock.
final class Catalog {
  /// The addresses of databases by their numbers, at most 50,000; a full cache is emptied. An
  /// address never changes.
  var addresses: [DatabaseID: DatabaseAddress] = [:]
  /// The possible listeners of databases, at most 50,000; a full cache is emptied.
  var listeners: [DatabaseID: Listeners] = [:]
  /// The names of zones by their numbers, at most 50,000; a full cache is emptied. A number is
  /// never given to another zone.
  var zoneIDs: [ZoneKey: ZoneID] = [:]
  /// The record types by their names, without those that were dropped from their schemas.
  var types: [RecordTypeKey: RecordTypeEntry] = [:]
  /// The record types by their numbers. Dropped types are among them, because tombstones (the rows
  /// of deleted records) still have their numbers.
  var typesByNumber: [Int64: RecordTypeEntry] = [:]
  /// The numbers of delivery routes (``PushRouteTable``). A number never changes.
  var routes: [DeliveryRoute: DeliveryRoute.ID] = [:]
  /// The roles of users, including the system's roles, for at most 50,000 users; a full cache is
  /// emptied.
  var roles: [MemberKey: Set<String>] = [:]
  /// The hashes of users who are being deleted or were recently deleted, as of ``version``; nil
  /// before they are read.
  var deletedUsers: Set<[UInt8]>?
  /// The catalog version at which types, roles and deleted users were read; nil before the first
  /// read. The store raises the version when one of them changes
  /// (``CounterTable/raiseCatalogVersion()``).
  var version: Int64?

  /// Empties the cache, which may contain rows that were rolled back.
  func empty() {
    addresses = [:]
    listeners = [:]
    zoneIDs = [:]
    types = [:]
    typesByNumber = [:]
    routes = [:]
    roles = [:]
    deletedUsers = nil
    version = nil
  }

  /// The possible listeners of a database's changes.
  struct Listeners {
    /// The subscription version of the database at which this was read.
    var version: Int64
    /// Whether the database has subscriptions.
    var isSubscribed: Bool
    /// Whether the database has shares.
    var hasShares: Bool
  }

  /// The key of a zone: its number in a database.
  struct ZoneKey: Hashable {
    var database: DatabaseID
    /// The zone's number, which is unique in its database only.
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
