import CloudKitModel
import Storage
import StoreModel
import Synchronization

/// A cache of the numbers by which the store identifies databases (`DatabaseID`), by address.
///
/// The number of a database never changes, so an entry never expires. A database that does not
/// exist has no entry.
final class DatabaseDirectory: Sendable {
  /// The most addresses in the cache. At the limit the cache is emptied.
  private static let capacity = 100_000

  let store: DatabaseService
  private let contents: @Sendable (DatabaseID) -> DatabaseContents
  /// The cached numbers. No thread holds the lock during a call of the store.
  private let known = Mutex<[DatabaseAddress: DatabaseID]>([:])

  init(of store: Store) {
    self.store = store.databases
    let (zones, records) = (store.zones, store.records)
    let (changeFeeds, subscriptions) = (store.changeFeeds, store.subscriptions)
    contents = {
      DatabaseContents(
        of: $0, zones: zones, records: records, changeFeeds: changeFeeds,
        subscriptions: subscriptions)
    }
  }

  /// Returns the number of the database of a request that changes it. The store creates the
  /// database on its first use.
  ///
  /// - Complexity: O(1) for a cached address; otherwise one call of the store, which writes if the
  ///   database is new.
  /// - Throws: `QUOTA_EXCEEDED` if the container is new and one too many.
  func database(for context: RequestContext) async throws -> DatabaseID {
    let maker = ContainerMaker(userRecordName: try context.user(), timestamp: context.now)
    let address = try context.address()
    if let known = known(address) { return known }
    let database = try await store.database(
      at: address, for: context.caller.isAdministrator ? nil : maker)
    keep(database, at: address)
    return database
  }

  /// Returns the contents of the database of a request that reads it. A database that does not
  /// exist is not created: its contents are those of an empty one.
  func contents(for context: RequestContext) async throws -> DatabaseContents {
    let address = try context.address()
    if let known = known(address) { return contents(known) }
    guard let database = try await store.readableDatabase(at: address) else {
      return store.vacancy(at: address)
    }
    keep(database, at: address)
    return contents(database)
  }

  private func known(_ address: DatabaseAddress) -> DatabaseID? {
    known.withLock { $0[address] }
  }

  private func keep(_ database: DatabaseID, at address: DatabaseAddress) {
    known.withLock { known in
      if known.count >= Self.capacity { known.removeAll() }
      known[address] = database
    }
  }
}
