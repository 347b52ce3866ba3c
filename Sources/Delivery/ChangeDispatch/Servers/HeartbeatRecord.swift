import StoreModel

/// The heartbeats received from the servers. Each server, this one included, sends one from time to
/// time, so they show whether this server receives the notifications of all.
struct HeartbeatRecord {
  private var latest: [ServerID: ContinuousClock.Instant] = [:]

  mutating func note(_ server: ServerID, at now: ContinuousClock.Instant) {
    latest[server] = now
  }

  /// Forgets all heartbeats until the next ones.
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
