import CloudKitModel
import StoreModel

/// What need not be read twice over a connection: what never changes once it is in the store, and the
/// schemas, which are read again when their version has changed.
///
/// It learns while a transaction runs, so it is emptied when one is rolled back.
final class Catalog {
  var addresses: [DatabaseID: DatabaseAddress] = [:]
  /// Whether databases have subscriptions, at the subscription versions that it was looked for.
  var subscribed: [DatabaseID: (version: Int64, isSubscribed: Bool)] = [:]
  var zoneIDs: [ZoneKey: ZoneID] = [:]
  var types: [RecordTypeKey: RecordTypeEntry] = [:]
  var typesByNumber: [Int64: RecordTypeEntry] = [:]
  /// The numbers of the ways of deliveries.
  var routes: [DeliveryRoute: DeliveryRoute.ID] = [:]
  /// The custom roles of users, without the system's.
  var roles: [MemberKey: Set<String>] = [:]
  /// The hashes of the users who are being deleted or were lately, as of ``version``; nil before
  /// they are asked for.
  var deletedUsers: Set<[UInt8]>?
  /// The catalog version that types and roles were read at; nil before the first is read.
  var version: Int64?

  /// Drops all of it: what was read of rows that were rolled back may be among it.
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
