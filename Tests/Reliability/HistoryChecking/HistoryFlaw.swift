/// Ways in which a server may break what it promises. Each can be planted in a history that keeps the
/// promises, as if the server had behaved so; the checker must then find it.
public enum HistoryFlaw: String, CaseIterable, Sendable {
  case saveLost
  case staleLook
  case tagReused
  case halfOfAtomicRequest
  case refusedButKept
  case feedOmits
  case feedReordered
  case notificationLost
  case notificationRepeated
  case notificationOfOthers
  case notificationBeforeCause
  case deletionNotTold
  case logReordered
  case firedTwice
  case pushLost
  case pushRenamed
  case pushToOrigin
  case pushNotLogged

  /// The promise that the flaw breaks.
  public var promise: Violation.Promise {
    switch self {
    case .saveLost, .staleLook, .tagReused, .feedOmits, .notificationLost, .deletionNotTold:
      .nothingAcknowledgedIsLost
    case .halfOfAtomicRequest: .nothingAcknowledgedIsLost
    case .refusedButKept: .atomicity
    case .feedReordered, .logReordered: .order
    case .notificationRepeated, .notificationBeforeCause, .pushLost, .pushRenamed, .pushNotLogged:
      .atLeastOnce
    case .notificationOfOthers: .onlyWhatMayBeRead
    case .firedTwice: .firesOnce
    case .pushToOrigin: .notToTheOrigin
    }
  }

  /// The history as it would be with the flaw; nil when it has no place for it.
  public func planted(
    in history: History, using generator: inout some RandomNumberGenerator
  ) -> History? {
    var flawed = history
    switch self {
    case .saveLost, .halfOfAtomicRequest:
      guard let victim = lonelySave(in: history, &generator), let mark = victim.mark else {
        return nil
      }
      flawed.removeSights(of: mark)
      if self == .halfOfAtomicRequest {
        for index in flawed.writes.indices where flawed.writes[index].group == victim.group {
          flawed.writes[index].outcome = .unknown
          flawed.writes[index].span.ended = Span.never
        }
      }
    case .staleLook:
      guard let (index, sight) = staleLook(in: history, &generator) else { return nil }
      flawed.reads[index].sight = sight
    case .tagReused:
      guard
        let index = history.reads.indices.filter({ history.reads[$0].sight.mark != nil })
          .randomElement(using: &generator), let mark = history.reads[index].sight.mark
      else { return nil }
      flawed.reads[index].sight = .record(tag: "another", mark: mark)
      flawed.reads.append(history.reads[index])
    case .refusedButKept:
      guard let victim = seenSave(in: history, &generator),
        let index = history.writes.firstIndex(where: { $0.mark == victim.mark })
      else { return nil }
      flawed.writes[index].outcome = .notDone
      flawed.writes[index].group = nil
    case .feedOmits:
      guard let (feed, entry) = lastingEntry(in: history, &generator) else { return nil }
      flawed.feeds[feed].entries.remove(at: entry)
    case .feedReordered:
      guard let (feed, one, other) = orderedEntries(in: history, &generator) else { return nil }
      flawed.feeds[feed].entries.swapAt(one, other)
    case .notificationLost, .notificationRepeated, .notificationOfOthers,
      .notificationBeforeCause, .deletionNotTold, .logReordered, .firedTwice:
      return plantedInLog(of: history, using: &generator)
    case .pushLost, .pushRenamed, .pushToOrigin, .pushNotLogged:
      return plantedInPushes(of: history, using: &generator)
    }
    return flawed
  }

  /// An acknowledged save that was seen, the only write of its record; for half of an atomic request,
  /// one whose request has another that was seen.
  private func lonelySave(
    in history: History, _ generator: inout some RandomNumberGenerator
  ) -> RecordWrite? {
    let counts = Dictionary(history.writes.map { ($0.key, 1) }, uniquingKeysWith: +)
    let ends = Sightings(of: history).ends
    let lastLooks = Dictionary(
      history.reads.compactMap { read in read.sight.mark.map { ($0, read) } },
      uniquingKeysWith: { $0.span.began > $1.span.began ? $0 : $1 })
    let groups = Dictionary(grouping: history.writes.filter { $0.group != nil }, by: \.group)
    return history.writes.filter { write in
      guard let mark = write.mark, write.isDone, counts[write.key] == 1,
        let look = lastLooks[mark], write.span.isBefore(look.span)
      else { return false }
      guard self != .saveLost else { return true }
      // A change that no reader may see must not appear in a notification either.
      return write.group != nil
        && groups[write.group]?.contains { $0.mark != mark && ends[$0.mark ?? ""] != nil } == true
    }.randomElement(using: &generator)
  }

  /// A look at a record, by its index, and a state that the record had before and cannot have again.
  private func staleLook(
    in history: History, _ generator: inout some RandomNumberGenerator
  ) -> (read: Int, sight: Sight)? {
    let saves = history.writesByMark
    let reads = Dictionary(grouping: history.reads, by: \.key)
    let deletions = Dictionary(grouping: history.writes.filter { $0.effect == .delete }, by: \.key)
    return history.reads.indices.compactMap { index -> (Int, Sight)? in
      let read = history.reads[index]
      // A save was acknowledged between this look and an earlier one.
      guard let mark = read.sight.mark, let save = saves[mark], save.isDone,
        save.span.isBefore(read.span)
      else { return nil }
      // No save leaves an old mark again. A deletion may make the record absent again: one that overlaps
      // with the save or this look, or one in doubt, however long ago it was asked for.
      let mayBeAbsent =
        deletions[read.key]?.contains { !$0.cannotFollow(save, before: read.span) } == true
      let old = reads[read.key]?.first {
        $0.sight != read.sight && $0.span.isBefore(save.span)
          && ($0.sight != .absent || !mayBeAbsent)
      }
      return old.map { (index, $0.sight) }
    }.randomElement(using: &generator)
  }

  private func seenSave(
    in history: History, _ generator: inout some RandomNumberGenerator
  ) -> RecordWrite? {
    let ends = Sightings(of: history).ends
    return history.writes.filter { $0.isDone && ends[$0.mark ?? ""] != nil }
      .randomElement(using: &generator)
  }

  /// An entry of a reading that is its reader's last word of a record.
  private func lastingEntry(
    in history: History, _ generator: inout some RandomNumberGenerator
  ) -> (feed: Int, entry: Int)? {
    let writes = history.writesByMark
    let byKey = Dictionary(grouping: history.writes, by: \.key)
    var places: [(feed: Int, entry: Int)] = []
    for (number, feed) in history.feeds.enumerated() {
      let counts = Dictionary(feed.entries.map { ($0.name, 1) }, uniquingKeysWith: +)
      for (place, entry) in feed.entries.enumerated() {
        guard let mark = entry.sight.mark, let save = writes[mark], save.isDone,
          save.span.isBefore(feed.span), counts[entry.name] == 1,
          byKey[save.key]?.allSatisfy({ $0.cannotFollow(save, before: feed.span) }) == true
        else { continue }
        places.append((number, place))
      }
    }
    return places.randomElement(using: &generator)
  }

  /// Two entries of which the first was acknowledged before the other was asked for.
  private func orderedEntries(
    in history: History, _ generator: inout some RandomNumberGenerator
  ) -> (feed: Int, one: Int, other: Int)? {
    let writes = history.writesByMark
    var places: [(feed: Int, one: Int, other: Int)] = []
    for (number, feed) in history.feeds.enumerated() {
      let saves = feed.entries.map { $0.sight.mark.flatMap { writes[$0] } }
      for one in saves.indices {
        guard let first = saves[one], first.isDone else { continue }
        // The nearest will do: long feeds have too many pairs.
        let other = saves.indices.dropFirst(one + 1).first {
          saves[$0].map { $0.isDone && first.span.isBefore($0.span) } == true
        }
        if let other { places.append((number, one, other)) }
      }
    }
    return places.randomElement(using: &generator)
  }
}

extension RecordWrite {
  var isDone: Bool {
    if case .done = outcome { true } else { false }
  }

  /// Whether no order that agrees with the clock has it after a save and before the end of a look.
  fileprivate func cannotFollow(_ save: RecordWrite, before look: Span) -> Bool {
    switch outcome {
    case .refused, .notDone: true
    case .done: mark == save.mark || span.isBefore(save.span) || look.isBefore(span)
    // One in doubt may come late, or not at all.
    case .unknown: look.isBefore(span)
    }
  }
}

extension History {
  /// Removes all observations of a save, as if it had never happened, with its notifications.
  fileprivate mutating func removeSights(of mark: String) {
    for index in reads.indices where reads[index].sight.mark == mark {
      reads[index].sight = .absent
    }
    for index in feeds.indices {
      feeds[index].entries.removeAll { $0.sight.mark == mark }
    }
    var told: Set<String> = []
    for index in logs.indices {
      for entry in logs[index].entries where entry.mark == mark {
        told.insert(entry.notificationID)
      }
      logs[index].entries.removeAll { $0.mark == mark }
    }
    pushes.removeAll { told.contains($0.notificationID) }
  }
}
