import CloudKitModel

/// The databases of a store, which clients name by addresses: container, environment, scope and
/// owner.
public protocol DatabaseStore: DatabaseReading {
  /// Returns the number of the database at this address. The first call for an address creates the
  /// database with its default zone.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if there is no such database yet, and its owner is
  ///   being deleted or was deleted recently.
  func database(at address: DatabaseAddress) async throws -> DatabaseID
}
