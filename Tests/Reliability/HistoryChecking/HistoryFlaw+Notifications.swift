extension HistoryFlaw {
  func plantedInLog(
    of history: History, using generator: inout some RandomNumberGenerator
  ) -> History? {
    var flawed = history
    let byMark = history.writesByMark
    let deletions = Dictionary(grouping: history.writes.filter { $0.effect == .delete }, by: \.key)
    let subscriptions = Dictionary(
      history.subscriptions.map { ($0.id, $0) }, uniquingKeysWith: { one, _ in one })
    /// Lines of the last logs about saves or deletions that were acknowledged while the
    /// subscription existed.
    var lines: [(log: Int, entry: Int)] = []
    for (number, log) in history.logs.enumerated() where log.isLast {
      for (place, entry) in log.entries.enumerated() {
        guard let subscription = subscriptions[entry.subscriptionID],
          subscription.firesOnce == (self == .firedTwice),
          (entry.mark == nil) == (self == .deletionNotTold)
        else { continue }
        let causes =
          entry.mark.map { mark in [byMark[mark]].compactMap(\.self) }
          ?? deletions[entry.key] ?? []
        guard
          causes.allSatisfy({
            $0.isDone && subscription.span.isBefore($0.span)
              && (entry.mark != nil || $0.condition != .none)
          })
        else { continue }
        lines.append((number, place))
      }
    }
    guard let (log, place) = lines.randomElement(using: &generator) else { return nil }
    let entry = history.logs[log].entries[place]
    switch self {
    case .notificationLost, .deletionNotTold:
      for index in flawed.logs.indices { flawed.logs[index].entries.removeAll { $0 == entry } }
      flawed.pushes.removeAll {
        $0.notificationID == entry.notificationID && $0.subscriptionID == entry.subscriptionID
      }
    case .notificationRepeated, .firedTwice:
      var repeated = entry
      repeated.notificationID += "-again"
      flawed.logs[log].entries.append(repeated)
    case .notificationOfOthers:
      guard let other = history.logs.firstIndex(where: { $0.user != history.logs[log].user }) else {
        return nil
      }
      flawed.logs[other].entries.append(entry)
    case .notificationBeforeCause:
      guard let mark = entry.mark, let write = byMark[mark] else { return nil }
      flawed.logs.append(
        LogReading(
          user: history.logs[log].user, reader: "prophet",
          span: Span(began: write.span.began - 2, ended: write.span.began - 1), continues: false,
          entries: Array(history.logs[log].entries[...place])))
    case .logReordered:
      let pairs = lines.filter { other in
        guard other.log == log, other.entry > place else { return false }
        let later = history.logs[log].entries[other.entry]
        guard later.subscriptionID == entry.subscriptionID,
          later.key.database == entry.key.database,
          later.key.zone == entry.key.zone, let one = byMark[entry.mark ?? ""],
          let two = byMark[later.mark ?? ""]
        else { return false }
        return one.span.isBefore(two.span)
      }
      guard let pair = pairs.randomElement(using: &generator) else { return nil }
      flawed.logs[log].entries.swapAt(place, pair.entry)
    default: return nil
    }
    return flawed
  }

  func plantedInPushes(
    of history: History, using generator: inout some RandomNumberGenerator
  ) -> History? {
    var flawed = history
    let byMark = history.writesByMark
    switch self {
    case .pushToOrigin:
      let places = history.logs.filter(\.isLast).flatMap { log in
        log.entries.compactMap { entry -> PushReceipt? in
          guard
            let write = entry.mark.flatMap({ byMark[$0] }), write.user == log.user,
            let device = history.devices.first(where: {
              $0.user == write.user && $0.device == write.device
            })
          else { return nil }
          return PushReceipt(
            token: device.token, apnsID: "origin", notificationID: entry.notificationID,
            subscriptionID: entry.subscriptionID, isAccepted: true)
        }
      }
      guard let push = places.randomElement(using: &generator) else { return nil }
      flawed.pushes.append(push)
    case .pushLost, .pushRenamed, .pushNotLogged:
      let told = Dictionary(
        history.logs.filter(\.isLast).flatMap(\.entries).filter { $0.mark != nil }
          .map { ($0.notificationID + $0.subscriptionID, $0) }, uniquingKeysWith: { one, _ in one })
      let accepted = history.pushes.filter { push in
        guard push.isAccepted, let entry = told[push.notificationID + push.subscriptionID],
          let write = entry.mark.flatMap({ byMark[$0] }),
          let device = history.devices.first(where: { $0.token == push.token })
        else { return false }
        return device.span.isBefore(write.span)
      }
      guard var push = accepted.randomElement(using: &generator) else { return nil }
      switch self {
      case .pushLost:
        flawed.pushes.removeAll {
          $0.token == push.token && $0.notificationID == push.notificationID
            && $0.subscriptionID == push.subscriptionID
        }
      case .pushRenamed:
        push.apnsID = "renamed"
        flawed.pushes.append(push)
      default:
        push.apnsID = "unlogged"
        push.notificationID = "unlogged"
        flawed.pushes.append(push)
      }
    default: return nil
    }
    return flawed
  }
}
