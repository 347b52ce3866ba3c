import PostgreSQLTesting
import SQLEngine
import Storage
import StoreModel

@testable import ChangeDispatch

/// A server with a store open that it shares with others, which dispatches a few things at a time.
struct SharedStoreServer: Sendable {
  var world: DispatchWorld
  var running: RunningDispatcher

  init(at location: StoreLocation) async throws {
    let store = try await Store.open(at: location)
    world = try await DispatchWorld(store)
    running = RunningDispatcher(DispatchStore(store), servers: store.servers) {
      $0.batchSize = 4
      $0.firingLimit = 3
      $0.laneLimit = 2
      $0.indexPieceSize = 2
      $0.retirementDelay = 0.005
    }
  }

  func stop() async {
    await running.dispatcher.stop()
    await running.membership?.stop()
    await world.store.close()
  }
}

/// Runs `body` with some servers on a store of their own in PostgreSQL. Those that it leaves are stopped.
func withServers(
  _ count: Int, _ body: (inout [SharedStoreServer], StoreLocation) async throws -> Void
) async throws {
  let schema = try await PostgreSQLServer.shared.makeStore()
  let location = StoreLocation.postgreSQL(try PostgreSQLAddress(schema.address), assets: nil)
  var servers: [SharedStoreServer] = []
  for _ in 0..<count { servers.append(try await SharedStoreServer(at: location)) }
  try await body(&servers, location)
  for server in servers { await server.stop() }
  try await PostgreSQLServer.shared.drop(schema)
}
