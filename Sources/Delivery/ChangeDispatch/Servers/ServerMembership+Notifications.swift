import StoreModel

extension ServerMembership {
  /// The effects of notifications that were not handled yet.
  struct Pending {
    /// Other servers have committed changes that this server dispatches.
    var isWokenUp = false
    /// There are announcements in the table.
    var announcements = false
    /// Announcements that came as notifications since the table was last read.
    var names: Set<AnnouncementName> = []
    var heartbeats = HeartbeatRecord()
    /// The connection was lost. PostgreSQL may have crashed and lost announcements.
    var isInterrupted = false
  }

  /// The most announcements that are remembered; readers are notified again of forgotten ones.
  private static let rememberedNames = 10_000
  /// The number of heartbeats that a server may miss before it counts as not received.
  private static let missedHeartbeats = 3.0

  /// Handles a notification, on the store's receiving thread.
  func take(_ notification: ServerNotification) {
    let isWaitedFor = handlers?.isListening() == true
    var announced: Announcement?
    let isDue = state.withLock { state in
      if notification != .interrupted { state.metrics.notificationsReceived += 1 }
      switch notification {
      case .joined(let server):
        state.pending.heartbeats.note(server, at: .now)
        return false
      case .wakeUp:
        state.pending.isWokenUp = true
        return true
      case .announced(let name, let announcement):
        guard isWaitedFor else { return false }
        guard let announcement else {
          state.pending.announcements = true
          return true
        }
        if state.pending.names.count >= Self.rememberedNames { state.pending.names = [] }
        state.pending.names.insert(name)
        announced = announcement
        return false
      case .interrupted:
        state.pending.heartbeats.interrupt()
        state.pending.isInterrupted = true
        return true
      }
    }
    if let announced { handlers?.onAnnounced(announced.subscribers) }
    if isDue { signal.signal() }
  }

  /// Whether this server receives the notifications of the others.
  func receivesNotifications(as server: ServerID) -> Bool {
    let start = ContinuousClock.now - .seconds(configuration.signInterval * Self.missedHeartbeats)
    return state.withLock { state in
      let servers = state.others.union([server])
      state.pending.heartbeats.keep(servers)
      let receivesNotifications = state.pending.heartbeats.isComplete(of: servers, since: start)
      state.metrics.receivesNotifications = receivesNotifications
      return receivesNotifications
    }
  }
}
