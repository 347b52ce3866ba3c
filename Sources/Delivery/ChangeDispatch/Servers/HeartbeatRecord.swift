import StoreModel

/// The record of the heartbeats that this server received.
///
/// Each server, this one included, sends heartbeats as notifications. They show whether this server
/// receives the notifications of all.
struct HeartbeatRecord {
  /// The time of each server's last heartbeat.
  private var latest: [ServerID: ContinuousClock.Instant] = [:]

  /// Records a heartbeat of a server.
  mutating func note(_ server: ServerID, at now: ContinuousClock.Instant) {
    latest[server] = now
  }

  /// Forgets all heartbeats, because the connection that receives notifications was lost.
  mutating func interrupt() {
    latest = [:]
  }

  /// Forgets all servers except these.
  mutating func keep(_ servers: Set<ServerID>) {
    latest = latest.filter { servers.contains($0.key) }
  }

  /// Whether each of these servers sent a heartbeat since `start`.
  func isComplete(of servers: Set<ServerID>, since start: ContinuousClock.Instant) -> Bool {
    servers.allSatisfy { server in latest[server].map { $0 >= start } ?? false }
  }
}
