import CloudKitModel

/// The lists of a store's contents for administrators.
///
/// A method with a `limit` returns one page of a list: at most `limit` elements. The store reads a
/// page by an index, so a page late in the list costs as much as the first. To get the next page,
/// pass the last element's name as `last`; nil returns the first page. The two searches return the
/// argument for the next page (``SubscriptionSearch/next``, ``PushSearch/next``).
public protocol AdministrationStore: Sendable {
  /// Returns the environments of containers that have a database or a record type. The order is by
  /// container and environment.
  func places() async throws -> [ContainerPlace]
  /// Returns the databases of a container's environment after `last`, in the order of scopes and
  /// owners.
  func databases(
    in place: ContainerPlace, after last: DatabaseSummary.Name?, limit: Int
  ) async throws -> [DatabaseSummary]
  /// Returns users after `last` in the order of their names.
  ///
  /// - Parameter prefix: the beginning of the names; empty for all users.
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
  ///   - isWanted: returns whether the result has a subscription. One call examines at most
  ///     ``SubscriptionSearch/budget`` subscriptions. The function must not block.
  func subscriptions(
    in database: DatabaseID, of subscriber: String?, after last: SubscriptionName?, limit: Int,
    where isWanted: @escaping @Sendable (StoredSubscription) -> Bool
  ) async throws -> SubscriptionSearch
  /// Searches the entries of a database's notification log, newest first, and returns the found
  /// ones with their deliveries.
  ///
  /// - Parameters:
  ///   - sequence: the number of an entry; only older entries are searched. Nil begins with the
  ///     newest entry.
  ///   - isWanted: returns whether the result has an entry. One call examines at most
  ///     ``PushSearch/budget`` entries. The function must not block.
  func pushes(
    in database: DatabaseID, before sequence: Int64?, limit: Int,
    where isWanted: @escaping @Sendable (LogEntry) -> Bool
  ) async throws -> PushSearch
  /// Returns the entries with these numbers in a database's notification log, with their
  /// deliveries. An entry that the store has deleted is absent.
  func pushes(_ sequences: [Int64], in database: DatabaseID) async throws -> [LoggedPush]
}
