import CloudKitModel
import StoreModel

/// The interface between the store and the dispatcher. The store passes committed changes to the
/// dispatcher, which matches them against subscriptions. The store then writes the notifications
/// and deliveries. The changes are passed in memory, but a change also waits in a table, the
/// outbox, until ``completeDispatch(of:timestamp:leasing:)`` has written its effects. After a
/// crash, the dispatcher reads the waiting changes from there.
///
/// ``OutboxService`` implements and documents the methods. The protocol lets a test delay or fail
/// the calls of a dispatcher.
public protocol OutboxStore: Sendable {
  func setCommitHandler(_ handler: (@Sendable ([OutboxEntry]) -> Void)?)
  func setDoubtHandler(_ handler: (@Sendable () -> Void)?)
  func undispatchedDatabases() async throws -> [DatabaseID]
  func undispatchedChanges(
    in part: DatabasePart, after sequence: Int64, limit: Int
  ) async throws -> [OutboxEntry]
  func forwards(
    of entries: [OutboxEntry], after earlier: [OutboxEntry]
  ) async throws -> [[MatchedChange]]
  func deferredSubscribers(in part: DatabasePart) async throws -> [String]
  func deferredWork(
    of subscriber: String, in part: DatabasePart, limit: Int, ofAtMost most: Int
  ) async throws -> DeferredWork?
  func prepare(_ change: inout MatchedChange, within bytes: Int)
  func completeDispatch(
    of changes: [MatchedChange], timestamp: Timestamp, leasing capacity: DeliveryCapacity?
  ) async throws -> DispatchResult
}
