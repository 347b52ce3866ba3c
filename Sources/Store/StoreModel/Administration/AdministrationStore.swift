import CloudKitModel

/// The lists of a store's contents for administrators.
///
/// Lists with a `limit` come in pages. An index serves each page, so the cost of a page does not
/// grow with the list. To read on, pass the last element of a page as `last` of the next call; nil
/// begins the list. The two searches return the place to continue
/// (``SubscriptionSearch/next``, ``PushSearch/next``).
public protocol AdministrationStore: Sendable {
  /// Returns all environments of containers that have databases or record types, in order.
  func places() async throws -> [ContainerPlace]
  /// Returns the databases of a container's environment after `last`, in the order of scopes and
  /// owners.
  func databases(
    in place: ContainerPlace, after last: DatabaseSummary.Name?, limit: Int
  ) async throws -> [DatabaseSummary]
  /// Returns users after `last` in the order of their names.
  ///
  /// - Parameter prefix: the beginning of the names.
  func users(
    beginningWith prefix: String, after last: String?, limit: Int
  ) async throws -> [User]
  /// Returns devices after `last` in the order of kinds and tokens.
  ///
  /// - Parameter userRecordName: the user whose devices are listed; nil for all users.
  func devices(
    of userRecordName: String?, after last: DeviceName?, limit: Int
  ) async throws -> [DeviceToken]
  /// Searches a database's subscriptions after `last`, in the order of subscribers and IDs.
  ///
  /// - Parameters:
  ///   - subscriber: the user whose subscriptions are listed; nil for all users.
  ///   - isWanted: selects subscriptions. One call examines at most ``SubscriptionSearch/budget``.
  func subscriptions(
    in database: DatabaseID, of subscriber: String?, after last: SubscriptionName?, limit: Int,
    where isWanted: @escaping @Sendable (StoredSubscription) -> Bool
  ) async throws -> SubscriptionSearch
  /// Searches a database's log entries before `sequence`, newest first, and returns them with their
  /// deliveries.
  ///
  /// - Parameter isWanted: selects entries. One call examines at most ``PushSearch/budget``.
  func pushes(
    in database: DatabaseID, before sequence: Int64?, limit: Int,
    where isWanted: @escaping @Sendable (LogEntry) -> Bool
  ) async throws -> PushSearch
  /// Returns the entries with these numbers of a database's log, with their deliveries. Trimmed
  /// entries are absent.
  func pushes(_ sequences: [Int64], in database: DatabaseID) async throws -> [LoggedPush]
}
