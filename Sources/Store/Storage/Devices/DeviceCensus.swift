import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// The numbers of a store's devices, grouped by kind, container and app. A server needs a *channel* for
/// each group: the configuration of the push service.
///
/// `petrel doctor` compares the groups with the server's configuration, because devices of a group
/// without a channel get no pushes. Counting only reads, so a server may use the store meanwhile.
public struct DeviceCensus: Sendable, Hashable {
  /// The devices of one kind that are registered for one container, under one bundle ID.
  public struct Group: Sendable, Hashable {
    /// The kind of the devices.
    public var kind: DeviceToken.Kind
    /// The identifier of the container whose notifications the devices get.
    public var container: String
    /// The bundle ID that the registrations name: see `DeviceToken.bundleID`.
    public var bundleID: String?
    /// The topic for which APNs refused the tokens since they were registered; nil if APNs did not.
    public var refusedTopic: String?
    /// The number of devices whose registration has not expired. The counts of one kind add up to
    /// at most ``DeviceCensus/limit``.
    public var count: Int

    /// Creates a group.
    public init(
      kind: DeviceToken.Kind, container: String, bundleID: String? = nil,
      refusedTopic: String? = nil, count: Int
    ) {
      self.kind = kind
      self.container = container
      self.bundleID = bundleID
      self.refusedTopic = refusedTopic
      self.count = count
    }
  }

  /// The most devices of one kind that are counted, because a store may have millions.
  ///
  /// If a kind has more devices, its counts are too low, and some containers may be missing.
  public static let limit = 100_000

  /// The groups, in the order of the cases of `DeviceToken.Kind`, then of containers and bundle IDs. Readers of
  /// the web courier are in no group.
  public var groups: [Group]

  /// Creates a census.
  public init(groups: [Group]) {
    self.groups = groups
  }

  /// Counts the devices to which a server pushes. Readers of the web courier poll the server, so
  /// the method does not count them.
  ///
  /// The method opens a connection on a new thread, and reads one kind after the other.
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
