/// Ways in which a server may break what it promises about shares. Each can be planted in a history
/// that keeps the promises; the checker must then find it.
public enum SharingFlaw: String, CaseIterable, Sendable {
  case sharedNotificationLost
  case sharedNotificationRepeated
  case sharedLogReordered
  case notificationAfterRemoval
  case notificationOfUnshared
  case readAfterRemoval
  case acceptanceLost

  /// The promise that the flaw breaks.
  public var promise: Violation.Promise {
    switch self {
    case .sharedNotificationLost, .acceptanceLost: .nothingAcknowledgedIsLost
    case .sharedNotificationRepeated: .atLeastOnce
    case .sharedLogReordered: .order
    case .notificationAfterRemoval, .notificationOfUnshared, .readAfterRemoval: .onlyWhatMayBeRead
    }
  }

  /// The history as it would be with the flaw; nil if it has no place for it.
  public func planted(
    in history: SharingHistory, using generator: inout some RandomNumberGenerator
  ) -> SharingHistory? {
    var flawed = history
    let users = history.heard.filter { $0.value.count > 1 }.keys.sorted()
    switch self {
    case .sharedNotificationLost:
      let subjects = Dictionary(
        history.subjects.map { ($0.notificationID, $0.subject) }, uniquingKeysWith: { $1 })
      let checker = SharingChecker.parts(of: history)
      let changes = Dictionary(history.changes.map { ($0.subject, $0) }) { $1 }
      let places = users.flatMap { user in
        (history.heard[user] ?? []).filter { id in
          guard let change = subjects[id].flatMap({ changes[$0] }), let share = change.share
          else { return false }
          return checker.mustTakePart(
            user, in: share, during: Span(began: change.span.began, ended: Span.never))
        }.map { (user, $0) }
      }
      guard let (user, id) = places.randomElement(using: &generator) else { return nil }
      flawed.heard[user]?.removeAll { $0 == id }
    case .sharedNotificationRepeated:
      guard let user = users.randomElement(using: &generator),
        let id = history.heard[user]?.randomElement(using: &generator)
      else { return nil }
      flawed.heard[user]?.append(id)
    case .sharedLogReordered:
      guard let user = users.randomElement(using: &generator) else { return nil }
      let count = history.heard[user]?.count ?? 0
      flawed.heard[user]?.swapAt(
        Int.random(in: 0..<count - 1, using: &generator), count - 1)
    case .notificationAfterRemoval, .notificationOfUnshared:
      let checker = SharingChecker.parts(of: history)
      let changes = Dictionary(history.changes.map { ($0.subject, $0) }) { $1 }
      let places = history.heard.keys.sorted().flatMap { user in
        history.subjects.filter { entry in
          guard let change = changes[entry.subject] else { return false }
          guard let share = change.share else { return self == .notificationOfUnshared }
          return self == .notificationAfterRemoval
            && history.parts.contains { $0.user == user && $0.effect.isEnd }
            && !checker.mayTakePart(user, in: share, during: change.span)
        }.map { (user, $0.notificationID) }
      }
      guard let (user, id) = places.randomElement(using: &generator) else { return nil }
      let order = Dictionary(
        history.order.enumerated().map { ($1, $0) }, uniquingKeysWith: { $1 })
      let heard = ((history.heard[user] ?? []) + [id]).sorted {
        order[$0] ?? 0 < order[$1] ?? 0
      }
      flawed.heard[user] = heard
    case .readAfterRemoval, .acceptanceLost:
      let checker = SharingChecker.parts(of: history)
      let places = history.looks.indices.filter { index in
        let look = history.looks[index]
        return self == .readAfterRemoval
          ? !checker.mayTakePart(look.user, in: look.share, during: look.span)
          : checker.mustTakePart(look.user, in: look.share, during: look.span)
      }
      guard let index = places.randomElement(using: &generator) else { return nil }
      flawed.looks[index].hasSeen.toggle()
    }
    return flawed
  }
}
