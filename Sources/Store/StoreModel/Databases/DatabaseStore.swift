import CloudKitModel

/// The databases of a store, by their addresses.
public protocol DatabaseStore: DatabaseReading {
  /// The number of the database at this address, which is created on first use.
  func database(at address: DatabaseAddress) async throws -> DatabaseID
}
