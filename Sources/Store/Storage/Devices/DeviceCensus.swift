import CloudKitModel
import Foundation
import SQLEngine
import StoreModel

/// The number of a store's devices, grouped by the configuration that a server needs to push to
/// them. The count changes nothing, and a server may be using the store.
///
/// `petrel doctor` compares it with the configuration: a group without a channel gets no pushes.
public struct DeviceCensus: Sendable, Hashable {
  /// Devices that the same setting of a server reaches.
  public struct Group: Sendable, Hashable {
    /// The kind of the devices.
    public var kind: DeviceToken.Kind
    /// The container whose notifications they get.
    public var container: String
    /// The number of unexpired devices. The counts of one kind add up to at most
    /// ``DeviceCensus/limit``.
    public var count: Int

    /// Creates a group.
    public init(kind: DeviceToken.Kind, container: String, count: Int) {
      self.kind = kind
      self.container = container
      self.count = count
    }
  }

  /// The most devices of one kind that are counted. There may be millions.
  ///
  /// A kind with more devices has counts that are too low, and possibly containers that are
  /// missing.
  public static let limit = 100_000

  /// The groups, in the order of kinds, then of containers. Courier readers are in none.
  public var groups: [Group]

  /// Creates a census.
  public init(groups: [Group]) {
    self.groups = groups
  }

  /// Counts the devices to which a server pushes; courier readers poll and are not counted.
  ///
  /// The method opens a connection of its own on a thread of its own, and reads one kind after the
  /// other.
  ///
  /// - Parameters:
  ///   - location: the store. The result is empty for a store in memory.
  ///   - now: devices that have expired by then are not counted.
  /// - Throws: ``StoreError`` if there is no store, or none that can be read.
  public static func take(
    at location: StoreLocation, now: Timestamp = .now
  ) async throws -> DeviceCensus {
    try await SQLStore.onThread {
      guard let connection = try location.connectToLook() else { return DeviceCensus(groups: []) }
      defer { connection.close() }
      let transaction = StoreTransaction(
        over: StoreConnection(over: connection, try StoreContext()))
      let table = DeviceTable(transaction: transaction)
      let pushed = DeviceToken.Kind.allCases.filter(\.isPushed)
      return DeviceCensus(
        groups: try pushed.flatMap { kind in
          try table.counts(of: kind, now: now, limit: limit).map {
            Group(kind: kind, container: $0.container, count: $0.count)
          }
        })
    }
  }
}
