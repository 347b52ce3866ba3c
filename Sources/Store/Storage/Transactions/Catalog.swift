import CloudKitModel
import StoreModel

/// A connection's cache of data that never changes once stored, and of schemas, which are read
/// again when their version changes.
///
/// It is filled while a transaction runs, so it is emptied when a transaction is rolled back. Each
/// reading or writing thread has a catalog of its own, so it needs no lock.
final class Catalog {
  /// The addresses of databases by their numbers, at most 50,000; a full cache is emptied. An
  /// address never changes.
  var addresses: [DatabaseID: DatabaseAddress] = [:]
  /// Whether databases have subscriptions, with the subscription versions at which that was read.
  /// It has at most 50,000 databases; a full cache is emptied.
  var subscribed: [DatabaseID: (version: Int64, isSubscribed: Bool)] = [:]
  /// The names of zones by their numbers, at most 50,000; a full cache is emptied. A number is
  /// never given to another zone.
  var zoneIDs: [ZoneKey: ZoneID] = [:]
  /// The record types by their names, without dropped ones.
  var types: [RecordTypeKey: RecordTypeEntry] = [:]
  /// The record types by their numbers, with dropped ones: records and tombstones have the numbers.
  var typesByNumber: [Int64: RecordTypeEntry] = [:]
  /// The numbers of delivery routes.
  var routes: [DeliveryRoute: DeliveryRoute.ID] = [:]
  /// The roles of users, those of the system included, for at most 50,000 users.
  var roles: [MemberKey: Set<String>] = [:]
  /// The hashes of users who are being deleted or were recently deleted, as of ``version``; nil
  /// before they are read.
  var deletedUsers: Set<[UInt8]>?
  /// The catalog version at which types and roles were read; nil before the first read.
  var version: Int64?

  /// Empties the cache, which may contain rows that were rolled back.
  func empty() {
    addresses = [:]
    subscribed = [:]
    zoneIDs = [:]
    types = [:]
    typesByNumber = [:]
    routes = [:]
    roles = [:]
    deletedUsers = nil
    version = nil
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
