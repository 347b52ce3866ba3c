import CloudKitModel

/// The databases of a store, by their addresses.
public protocol DatabaseStore: DatabaseReading {
  /// Returns the number of the database at this address. The first call for an address creates the
  /// database with its default zone.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the database is new and its owner is being
  ///   deleted.
  func database(at address: DatabaseAddress) async throws -> DatabaseID
}
