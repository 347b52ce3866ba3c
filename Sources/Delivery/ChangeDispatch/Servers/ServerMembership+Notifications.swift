import StoreModel

/// The handling of notifications from other servers.
extension ServerMembership {
  /// The effects of notifications that were not handled yet.
  struct Pending {
    /// Whether other servers have committed changes that this server dispatches.
    var isWokenUp = false
    /// Whether the table has announcements to read.
    var announcements = false
    /// The announcements that came as notifications since the table was last read.
    var names: Set<AnnouncementName> = []
    /// The heartbeats of all servers.
    var heartbeats = HeartbeatRecord()
    /// Whether the connection was lost. PostgreSQL may have crashed and lost announcements.
    var isInterrupted = false
  }

  /// The greatest number of remembered announcements. If more come, the names are forgotten, and
  /// readers are notified again.
  private static let rememberedNames = 10_000
  /// The number of heartbeats that may be missing before a server's notifications count as not
  /// received.
  private static let missedHeartbeats = 3.0

  /// Handles a notification. The store's receiving thread calls it.
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

  /// Computes whether this server receives the notifications of all servers: each server's
  /// heartbeats arrived lately. The method stores the result in the metrics, and forgets the
  /// heartbeats of servers that are gone.
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
