import StoreModel

/// The handling of notifications from other servers.
extension ServerMembership {
  /// The content of notifications that the next round has to handle.
  struct Pending {
    /// Whether other servers have committed changes that this server dispatches.
    var isWokenUp = false
    /// Whether the store's table has announcements that came without their content.
    var announcements = false
    /// The announcements that came as notifications since the table was last read. The next reading
    /// of the table omits them.
    var names: Set<AnnouncementName> = []
    var heartbeats = HeartbeatRecord()
    /// Whether the connection for notifications was lost. PostgreSQL may have crashed and lost
    /// announcements.
    var isInterrupted = false
  }

  /// The greatest number of remembered names. If more come, all are forgotten. The next reading of
  /// the table then notifies readers again.
  private static let rememberedNames = 10_000
  /// The number of heartbeat intervals after which a server without a heartbeat counts as not
  /// received.
  private static let missedHeartbeats = 3.0

  /// Handles a notification. The store's receiving thread calls this method. An announcement is
  /// ignored if no reader waits.
  func take(_ notification: ServerNotification) {
    let isWaitedFor = handlers?.isListening() == true
    var announced: Announcement?
    let isDue = state.withLock { state in
      if notification != .interrupted { state.metrics.notificationsReceived += 1 }
      switch notification {
      case .joined(let server):
        state.pending.heartbeats.record(server, at: .now)
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

  /// Computes whether a heartbeat of each server arrived within the last three intervals. If so,
  /// this server receives the notifications of all servers. Stores the result in the metrics, and
  /// removes the heartbeats of servers that are gone.
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
