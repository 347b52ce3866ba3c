/// Whether each change was logged for the subscriptions that it fires: once, not before it happened, for
/// nobody else, and in order.
struct NotificationChecker {
  private let history: History
  private let sightings: Sightings
  private let writesByMark: [String: RecordWrite]
  private var violations: [Violation] = []

  init(_ history: History, _ sightings: Sightings) {
    self.history = history
    self.sightings = sightings
    writesByMark = history.writesByMark
  }

  mutating func check() -> [Violation] {
    let subscriptions = Dictionary(
      history.subscriptions.map { ($0.id, $0) }, uniquingKeysWith: { one, _ in one })
    for log in history.logs {
      for entry in log.entries { check(entry, in: log, subscriptions[entry.subscriptionID]) }
    }
    for log in history.logs where log.isLast {
      checkReaders(of: log)
      for subscription in history.subscriptions where subscription.user == log.user {
        check(subscription, log.entries.filter { $0.subscriptionID == subscription.id })
      }
    }
    return violations
  }

  private mutating func check(
    _ entry: LogEntry, in log: LogReading, _ subscription: Subscribing?
  ) {
    guard let subscription, subscription.user == log.user else {
      violations.append(
        Violation(
          .onlyWhatMayBeRead,
          "\(log.user) was notified of \(entry.key) for \(entry.subscriptionID) of another user"))
      return
    }
    guard let mark = entry.mark else { return }
    guard let write = writesByMark[mark], write.key == entry.key else {
      violations.append(
        Violation(
          .atLeastOnce, "\(log.user) was notified of \(mark) in \(entry.key), which nobody saved"))
      return
    }
    if log.span.ended < write.span.began {
      violations.append(
        Violation(.atLeastOnce, "\(log.user) was notified of \(mark) before it was saved"))
    }
    if !write.topics.contains(subscription.topic) {
      violations.append(
        Violation(
          .onlyWhatMayBeRead,
          "\(mark) fired \(subscription.id), which is for \(subscription.topic)"))
    }
  }

  /// Checks the readers that went on from token to token. Each must have received every entry once,
  /// and those of each database in order.
  private mutating func checkReaders(of last: LogReading) {
    let readers = Dictionary(
      grouping: history.logs.filter { $0.user == last.user && !$0.isLast }, by: \.reader)
    for (reader, readings) in readers {
      var read: [LogEntry] = []
      for reading in readings.sorted(by: { $0.span.began < $1.span.began }) {
        if !reading.continues { read = [] }
        read += reading.entries
      }
      let all = Dictionary(grouping: last.entries, by: \.key.database)
      for (database, entries) in Dictionary(grouping: read, by: \.key.database) {
        let log = all[database] ?? []
        guard entries != Array(log.prefix(entries.count)) else { continue }
        let place = zip(entries, log).enumerated().first { $1.0 != $1.1 }?.offset
        violations.append(
          Violation(
            .atLeastOnce,
            "\(reader) of \(last.user) read entries that differ from the log of \(database), "
              + "from entry \(place ?? log.count) on"))
      }
    }
  }

  private mutating func check(_ subscription: Subscribing, _ entries: [LogEntry]) {
    checkOrder(of: entries, subscription)
    let counts = Dictionary(entries.compactMap { $0.mark.map { ($0, 1) } }, uniquingKeysWith: +)
    var certain = 0
    for write in history.writes where write.topics.contains(subscription.topic) {
      guard let mark = write.mark else { continue }
      let count = counts[mark] ?? 0
      let isCertain: Bool
      switch sightings.certainty(of: write) {
      case .carriedOut(let end):
        isCertain = subscription.span.isBefore(write.span)
        if count > 0, end < subscription.span.began {
          violations.append(
            Violation(
              .atLeastOnce, "\(mark) fired \(subscription.id), which was saved after it"))
        }
      case .possible, .not: isCertain = false
      }
      if isCertain { certain += 1 }
      if isCertain, count == 0, !subscription.firesOnce {
        violations.append(
          Violation(
            .nothingAcknowledgedIsLost, "\(mark) in \(write.key) did not fire \(subscription.id)"))
      }
      if count > 1 {
        violations.append(
          Violation(.atLeastOnce, "\(mark) fired \(subscription.id) \(count) times"))
      }
    }
    if subscription.firesOnce {
      if entries.count > 1 {
        violations.append(
          Violation(.firesOnce, "\(subscription.id) fired \(entries.count) times instead of once"))
      } else if entries.isEmpty, certain > 0 {
        violations.append(
          Violation(.firesOnce, "\(subscription.id) never fired, for \(certain) changes"))
      }
    } else {
      checkDeletions(of: subscription, entries)
    }
  }

  /// Deletions bear no mark: they are counted.
  private mutating func checkDeletions(of subscription: Subscribing, _ entries: [LogEntry]) {
    let told = Dictionary(
      entries.filter { $0.mark == nil }.map { ($0.key, 1) }, uniquingKeysWith: +)
    var bounds: [RecordKey: (least: Int, most: Int)] = [:]
    for write in history.writes
    where write.effect == .delete && write.topics.contains(subscription.topic) {
      var bound = bounds[write.key] ?? (0, 0)
      switch sightings.certainty(of: write) {
      case .carriedOut:
        bound.most += 1
        // One without a condition may have found nothing to delete.
        if write.condition != .none, subscription.span.isBefore(write.span) { bound.least += 1 }
      case .possible: bound.most += 1
      case .not: break
      }
      bounds[write.key] = bound
    }
    for key in Set(told.keys).union(bounds.keys).sorted() {
      let (count, bound) = (told[key] ?? 0, bounds[key] ?? (0, 0))
      if count < bound.least {
        violations.append(
          Violation(
            .nothingAcknowledgedIsLost,
            "\(subscription.id) was notified of \(count) deletions of \(key) instead of at least \(bound.least)"
          ))
      } else if count > bound.most {
        violations.append(
          Violation(
            .atLeastOnce,
            "\(subscription.id) was notified of \(count) deletions of \(key) instead of at most \(bound.most)"
          )
        )
      }
    }
  }

  private mutating func checkOrder(of entries: [LogEntry], _ subscription: Subscribing) {
    // By zone, from the end: the earliest time until which something that comes later was saved.
    var earliest: [[String]: (end: Int64, mark: String)] = [:]
    for entry in entries.reversed() {
      guard let mark = entry.mark, let write = writesByMark[mark] else { continue }
      let zone = [entry.key.database, entry.key.zone]
      if let later = earliest[zone], later.end < write.span.began {
        violations.append(
          Violation(
            .order,
            "the log for \(subscription.id) has \(mark) before \(later.mark), which was saved earlier"
          ))
        return
      }
      if write.span.ended < earliest[zone]?.end ?? .max {
        earliest[zone] = (write.span.ended, mark)
      }
    }
  }
}
