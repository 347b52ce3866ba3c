import CloudKitModel
import StoreModel
import Synchronization

/// Looks up the numbers of databases and remembers them: they never change.
final class DatabaseDirectory: Sendable {
  /// Addresses that are remembered.
  private static let capacity = 100_000

  let store: any DatabaseStore
  private let known = Mutex<[DatabaseAddress: DatabaseID]>([:])

  init(store: any DatabaseStore) {
    self.store = store
  }

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
