import StoreModel

extension ServerMembership {
  /// What notices have told that was not looked after yet.
  struct Noticed {
    /// Word was left.
    var word = false
    /// There are announcements in the table.
    var announcements = false
    /// Those that came as notices since the table was looked into.
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
  func take(_ notice: ServerNotification) {
    let isWaitedFor = handlers?.isListening() == true
    var announced: Announcement?
    let isDue = state.withLock { state in
      if notice != .interrupted { state.metrics.notificationsReceived += 1 }
      switch notice {
      case .joined(let server):
        state.noticed.hearing.hear(server, at: .now)
        return false
      case .wakeUp:
        state.noticed.wakeUp = true
        return true
      case .announced(let name, let announcement):
        guard isWaitedFor else { return false }
        guard let announcement else {
          state.noticed.announcements = true
          return true
        }
        if state.noticed.names.count >= Self.rememberedNames { state.noticed.names = [] }
        state.noticed.names.insert(name)
        announced = announcement
        return false
      case .interrupted:
        state.noticed.hearing.interrupt()
        state.noticed.isInterrupted = true
        return true
      }
    }
    if let announced { handlers?.onAnnounced(announced.subscribers) }
    if isDue { signal.signal() }
  }

  /// Whether word that is left comes to be known by a notice.
  func isHearing(as server: ServerID) -> Bool {
    let start = ContinuousClock.now - .seconds(configuration.signInterval * Self.missedSigns)
    return state.withLock { state in
      let servers = state.others.union([server])
      state.noticed.hearing.keep(servers)
      let isHearing = state.noticed.hearing.isWell(with: servers, since: start)
      state.metrics.isHearing = isHearing
      return isHearing
    }
  }
}
