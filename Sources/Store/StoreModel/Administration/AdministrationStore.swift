import CloudKitModel

/// The lists of a store's contents for administrators.
///
/// Each list comes in pages. An index serves each page, so its cost does not grow with the list. To
/// read on, pass the last element of a page as `last` of the next call; nil begins the list.
public protocol AdministrationStore: Sendable {
  /// The containers' environments that have databases or record types, in order.
  func places() async throws -> [ContainerPlace]
  /// The databases of a container's environment after `last`, in the order of scopes and owners.
  func databases(
    in place: ContainerPlace, after last: DatabaseSummary.Name?, limit: Int
  ) async throws -> [DatabaseSummary]
  /// Users after `last` in the order of their names.
  ///
  /// - Parameter prefix: the beginning of the names.
  func users(
    beginningWith prefix: String, after last: String?, limit: Int
  ) async throws -> [User]
  /// Devices after `last` in the order of kinds and tokens.
  ///
  /// - Parameter userRecordName: the user whose devices are listed; nil for all users.
  func devices(
    of userRecordName: String?, after last: DeviceName?, limit: Int
  ) async throws -> [DeviceToken]
  /// A database's subscriptions after `last` in the order of subscribers and IDs.
  ///
  /// - Parameters:
  ///   - subscriber: the user whose subscriptions are listed; nil for all users.
  ///   - isWanted: selects subscriptions. One call examines at most ``SubscriptionSearch/budget``.
  func subscriptions(
    in database: DatabaseID, of subscriber: String?, after last: SubscriptionName?, limit: Int,
    where isWanted: @escaping @Sendable (StoredSubscription) -> Bool
  ) async throws -> SubscriptionSearch
  /// A database's log entries before `sequence` with their deliveries, newest first.
  ///
  /// - Parameter isWanted: selects entries. One call examines at most ``PushSearch/budget``.
  func pushes(
    in database: DatabaseID, before sequence: Int64?, limit: Int,
    where isWanted: @escaping @Sendable (LogEntry) -> Bool
  ) async throws -> PushSearch
  /// These entries of a database's log with their deliveries; trimmed entries are absent.
  func pushes(_ sequences: [Int64], in database: DatabaseID) async throws -> [LoggedPush]
}
