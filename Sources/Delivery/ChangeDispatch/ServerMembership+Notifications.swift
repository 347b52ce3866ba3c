import StoreModel

extension ServerMembership {
  /// What notifications have brought that was not looked after yet.
  struct Pending {
    /// Others have committed changes that this server dispatches.
    var isWokenUp = false
    /// There are announcements in the table.
    var announcements = false
    /// Those that came as notifications since the table was looked into.
    var names: Set<AnnouncementName> = []
    var hearing = NotificationHearing()
    /// The connection was lost, and PostgreSQL may have been, with announcements that it did not keep.
    var isInterrupted = false
  }

  /// So many announcements are remembered to have come; of more the readers are told twice.
  private static let rememberedNames = 10_000
  /// So many times a server may say that it is there, and not be heard.
  private static let missedSigns = 3.0

  /// Is called on the store's thread that hears.
  func take(_ notification: ServerNotification) {
    let isWaitedFor = handlers?.isListening() == true
    var announced: Announcement?
    let isDue = state.withLock { state in
      if notification != .interrupted { state.metrics.notificationsReceived += 1 }
      switch notification {
      case .joined(let server):
        state.pending.hearing.hear(server, at: .now)
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
        state.pending.hearing.interrupt()
        state.pending.isInterrupted = true
        return true
      }
    }
    if let announced { handlers?.onAnnounced(announced.subscribers) }
    if isDue { signal.signal() }
  }

  /// Whether this server receives the wake-ups that others send.
  func isHearing(as server: ServerID) -> Bool {
    let start = ContinuousClock.now - .seconds(configuration.signInterval * Self.missedSigns)
    return state.withLock { state in
      let servers = state.others.union([server])
      state.pending.hearing.keep(servers)
      let isHearing = state.pending.hearing.isWell(with: servers, since: start)
      state.metrics.isHearing = isHearing
      return isHearing
    }
  }
}
