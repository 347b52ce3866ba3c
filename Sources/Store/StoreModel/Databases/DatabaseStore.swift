import CloudKitModel

/// The databases of a store, which clients name by addresses: container, environment, scope and
/// owner.
public protocol DatabaseStore: DatabaseReading {
  /// Returns the number of the database at this address. The first call for an address creates the
  /// database with its default zone.
  ///
  /// - Parameter maker: the user for whom the database is created, whose new containers are
  ///   limited; nil for an administrator or a tool.
  /// - Throws: ``StoreError/Code/userDeleted`` if there is no such database yet, and its owner is
  ///   being deleted or was deleted recently; ``ItemFailure/Code/quotaExceeded`` if the container is
  ///   new and one too many.
  func database(
    at address: DatabaseAddress, for maker: ContainerMaker?
  ) async throws -> DatabaseID
  /// Returns the number of the database at this address, for a read; nil if there is no such
  /// database yet.
  ///
  /// Only the shared database of a user who takes part in a share is created then.
  func readableDatabase(at address: DatabaseAddress) async throws -> DatabaseID?
  /// Returns the contents that a database at this address has before it exists: the default zone,
  /// and nothing else.
  ///
  /// Change tokens of these contents stay good when the database is created: they begin before its
  /// first change.
  func vacancy(at address: DatabaseAddress) -> DatabaseContents
}

extension DatabaseStore {
  /// Returns the number of the database at this address, and creates the database if there is none,
  /// for an administrator or a tool.
  public func database(at address: DatabaseAddress) async throws -> DatabaseID {
    try await database(at: address, for: nil)
  }
}
