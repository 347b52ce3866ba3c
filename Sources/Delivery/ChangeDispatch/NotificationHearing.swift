import StoreModel

/// Whether a server hears the notices of those it shares a store with: each says now and then that it is
/// there, and so does the server itself.
struct NotificationHearing {
  private var heard: [ServerID: ContinuousClock.Instant] = [:]

  mutating func hear(_ server: ServerID, at now: ContinuousClock.Instant) {
    heard[server] = now
  }

  /// Nobody is heard before they say again that they are there.
  mutating func interrupt() {
    heard = [:]
  }

  /// Forgets all others than these.
  mutating func keep(_ servers: Set<ServerID>) {
    heard = heard.filter { servers.contains($0.key) }
  }

  /// Whether all these servers were heard since then.
  func isWell(with servers: Set<ServerID>, since start: ContinuousClock.Instant) -> Bool {
    servers.allSatisfy { server in heard[server].map { $0 >= start } ?? false }
  }
}
