import CloudKitModel
import Foundation
import StoreModel

/// The numbers of a store's devices, grouped by kind, container and app. `petrel doctor` compares
/// the groups with the server's channels, because devices of a group without a channel get no
/// pushes. Counting only reads, so a server may use the store meanwhile.
public struct DeviceCensus: Sendable, Hashable {
  /// Devices of one kind, registered for one container under one bundle ID.
  public struct Group: Sendable, Hashable {
    /// The kind of the devices, never that of web courier readers.
    public var kind: DeviceToken.Kind
    /// The container whose notifications the devices get.
    public var container: String
    /// See `DeviceToken.bundleID`.
    public var bundleID: String?
    /// The topic for which APNs refused the tokens since they were registered.
    public var refusedTopic: String?
    /// The devices whose registration has not expired.
    public var count: Int
  }

  /// The most devices of one kind that are counted, because a store may have millions. With more,
  /// the counts are too low, and some containers may be missing.
  public static let limit = 100_000

  /// The groups, in the order of the cases of `DeviceToken.Kind`, then of containers and bundle
  /// IDs.
  public var groups: [Group]

  /// Counts the devices to which a server pushes, over a connection on a new thread. Readers of the
  /// web courier poll, so they do not count.
  ///
  /// - Parameters:
  ///   - location: the store. The result is empty for a store in memory.
  ///   - now: devices that have expired by this time are not counted.
  /// - Throws: ``StoreError`` if the store does not exist or cannot be read.
  public static func take(
    at location: StoreLocation, now: Timestamp = .now
  ) async throws -> DeviceCensus {
    try await Store.onThread {
      guard let connection = try location.connectToLook() else { return DeviceCensus(groups: []) }
      defer { connection.close() }
      let transaction = StoreTransaction(
        over: StoreConnection(over: connection, try StoreContext()))
      let table = DeviceTable(transaction: transaction)
      let pushed = DeviceToken.Kind.allCases.filter(\.isPushed)
      return DeviceCensus(
        groups: try pushed.flatMap { try table.counts(of: $0, now: now, limit: limit) })
    }
  }
}
