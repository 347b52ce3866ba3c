import CloudKitModel

/// The lists in which those who run the server look through a store.
///
/// Each list comes in pages, which are read by an index: how much there is makes no difference.
public protocol AdministrationStore: Sendable {
  /// The containers' environments that have databases or record types, in order.
  func places() async throws -> [ContainerPlace]
  /// The databases of a container's environment in the order of scopes and owners, behind `last`.
  func databases(
    in place: ContainerPlace, after last: DatabaseSummary.Name?, limit: Int
  ) async throws -> [DatabaseSummary]
  /// Users in the order of their names, behind `last`.
  ///
  /// - Parameter prefix: what the names begin with.
  func users(
    beginningWith prefix: String, after last: String?, limit: Int
  ) async throws -> [User]
  /// Devices in the order of kinds and tokens, behind `last`.
  ///
  /// - Parameter userRecordName: whose they are; anyone's when nil.
  func devices(
    of userRecordName: String?, after last: DeviceName?, limit: Int
  ) async throws -> [DeviceToken]
  /// A database's subscriptions in the order of subscribers and IDs, behind `last`.
  ///
  /// - Parameters:
  ///   - subscriber: whose they are; anyone's when nil.
  ///   - isWanted: which of them. At most ``SubscriptionSearch/budget`` are looked at in one call.
  func subscriptions(
    in database: DatabaseID, of subscriber: String?, after last: SubscriptionName?, limit: Int,
    where isWanted: @escaping @Sendable (StoredSubscription) -> Bool
  ) async throws -> SubscriptionSearch
  /// A database's log entries with their deliveries, newest first, before `sequence`.
  ///
  /// - Parameter isWanted: which of them. At most ``PushSearch/budget`` are looked at in one call.
  func pushes(
    in database: DatabaseID, before sequence: Int64?, limit: Int,
    where isWanted: @escaping @Sendable (LogEntry) -> Bool
  ) async throws -> PushSearch
  /// These entries of a database's log with their deliveries; without those that are gone.
  func pushes(_ sequences: [Int64], in database: DatabaseID) async throws -> [LoggedPush]
}
