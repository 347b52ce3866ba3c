import CloudKitModel
import StoreModel

/// A connection's cache of data that never changes once stored, and of schemas, which are read
/// again when their version changes.
///
/// It is filled while a transaction runs, so it is emptied when a transaction is rolled back.
final class Catalog {
  var addresses: [DatabaseID: DatabaseAddress] = [:]
  /// Whether databases have subscriptions, with the subscription versions at which that was read.
  var subscribed: [DatabaseID: (version: Int64, isSubscribed: Bool)] = [:]
  var zoneIDs: [ZoneKey: ZoneID] = [:]
  var types: [RecordTypeKey: RecordTypeEntry] = [:]
  var typesByNumber: [Int64: RecordTypeEntry] = [:]
  /// The numbers of delivery routes.
  var routes: [DeliveryRoute: DeliveryRoute.ID] = [:]
  /// The custom roles of users, without the system's.
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

  struct ZoneKey: Hashable {
    var database: DatabaseID
    var number: Int64
  }

  struct RecordTypeKey: Hashable {
    var container: String
    var environment: ContainerEnvironment
    var name: String
  }

  struct MemberKey: Hashable {
    var container: String
    var environment: ContainerEnvironment
    var userRecordName: String
  }
}
