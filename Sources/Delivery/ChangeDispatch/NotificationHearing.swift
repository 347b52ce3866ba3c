import StoreModel

/// Whether a server receives the notifications of the other servers. Each server, this one
/// included, sends a heartbeat from time to time.
struct NotificationHearing {
  private var heard: [ServerID: ContinuousClock.Instant] = [:]

  mutating func hear(_ server: ServerID, at now: ContinuousClock.Instant) {
    heard[server] = now
  }

  /// Forgets all heartbeats until the next ones.
  mutating func interrupt() {
    heard = [:]
  }

  /// Forgets all servers except these.
  mutating func keep(_ servers: Set<ServerID>) {
    heard = heard.filter { servers.contains($0.key) }
  }

  /// Whether each of these servers sent a heartbeat since `start`.
  func isWell(with servers: Set<ServerID>, since start: ContinuousClock.Instant) -> Bool {
    servers.allSatisfy { server in heard[server].map { $0 >= start } ?? false }
  }
}
