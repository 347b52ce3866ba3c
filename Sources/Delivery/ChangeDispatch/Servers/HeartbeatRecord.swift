import StoreModel

/// The record of the heartbeats that this server received. It is a value.
///
/// Each server of the cluster, this one included, sends a notification at intervals: its
/// *heartbeat*. The heartbeats show whether this server receives the notifications of all servers.
struct HeartbeatRecord {
  /// The time at which each server's last heartbeat was received.
  private var latest: [ServerID: ContinuousClock.Instant] = [:]

  mutating func record(_ server: ServerID, at now: ContinuousClock.Instant) {
    latest[server] = now
  }

  /// Forgets all heartbeats, because the connection that receives notifications was lost.
  mutating func interrupt() {
    latest = [:]
  }

  mutating func keep(_ servers: Set<ServerID>) {
    latest = latest.filter { servers.contains($0.key) }
  }

  /// Whether a heartbeat of each of these servers was received since `start`.
  func isComplete(of servers: Set<ServerID>, since start: ContinuousClock.Instant) -> Bool {
    servers.allSatisfy { server in latest[server].map { $0 >= start } ?? false }
  }
}
