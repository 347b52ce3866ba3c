import CloudKitModel
import StoreModel
import Synchronization

/// A cache of the numbers by which the store identifies databases (`DatabaseID`), by address.
///
/// The number of a database never changes, so an entry never expires.
final class DatabaseDirectory: Sendable {
  /// The most addresses in the cache. At the limit the cache is emptied.
  private static let capacity = 100_000

  /// The store that knows the numbers.
  let store: any DatabaseStore
  /// The cached numbers. No thread holds the lock during a call of the store.
  private let known = Mutex<[DatabaseAddress: DatabaseID]>([:])

  init(store: any DatabaseStore) {
    self.store = store
  }

  /// Returns the number of the database at an address. The store creates the database on its first
  /// use.
  ///
  /// - Complexity: O(1) for a cached address; otherwise one call of the store, which writes if the
  ///   database is new.
  func database(at address: DatabaseAddress) async throws -> DatabaseID {
    if let database = known.withLock({ $0[address] }) { return database }
    let database = try await store.database(at: address)
    known.withLock { known in
      if known.count >= Self.capacity { known.removeAll() }
      known[address] = database
    }
    return database
  }
}
