/// Decides whether a server can have behaved as the owner and the participants of shares saw it.
///
/// - Access: After an answered acceptance the user can read. After an answered removal the user
///   cannot, until the user accepts the next invitation.
/// - The owner's log has each committed change once.
/// - A participant's log has no change twice, and has the order of the owner's log. It has no change
///   that no share shows, and none that was asked for after an answered removal.
/// - Losses: A user who takes part from before a change until the end has the change in the log.
///   Between two changes in the log, none is missing if the user's part did not end between them.
public struct SharingChecker {
  private let history: SharingHistory
  private let changes: [SharingHistory.Change.Subject: SharingHistory.Change]
  private var violations: [Violation] = []

  private init(_ history: SharingHistory) {
    self.history = history
    changes = Dictionary(history.changes.map { ($0.subject, $0) }) { first, _ in first }
  }

  /// A checker that answers who takes part when.
  static func parts(of history: SharingHistory) -> SharingChecker { SharingChecker(history) }

  public static func violations(of history: SharingHistory) -> [Violation] {
    var checker = SharingChecker(history)
    checker.checkAccess()
    checker.checkOwner()
    for user in history.heard.keys.sorted() { checker.checkLog(of: user) }
    return checker.violations
  }

  private mutating func add(_ promise: Violation.Promise, _ text: String) {
    violations.append(Violation(promise, text))
  }

  // MARK: Parts

  private func events(
    _ effect: SharingHistory.PartEvent.Effect, _ user: String, _ share: String
  ) -> [SharingHistory.PartEvent] {
    history.parts.filter { $0.effect == effect && $0.user == user && $0.share == share }
  }

  private func ends(_ user: String, _ share: String) -> [SharingHistory.PartEvent] {
    history.parts.filter { $0.effect.isEnd && $0.user == user && $0.share == share }
  }

  /// Whether a user may have had access at some moment of a span.
  func mayTakePart(_ user: String, in share: String, during span: Span) -> Bool {
    let accepted = events(.accepted, user, share).filter { !span.isBefore($0.span) }
    let invited = events(.invited, user, share).filter { !span.isBefore($0.span) }
    guard !accepted.isEmpty, !invited.isEmpty else { return false }
    return ends(user, share).filter { $0.isCertain && $0.span.isBefore(span) }
      .allSatisfy { end in
        (end.effect == .left || invited.contains { !$0.span.isBefore(end.span) })
          && accepted.contains { !$0.span.isBefore(end.span) }
      }
  }

  /// Whether a user has access from before a span until after it.
  func mustTakePart(_ user: String, in share: String, during span: Span) -> Bool {
    let ends = ends(user, share)
    return events(.accepted, user, share).contains { accepted in
      accepted.isCertain && accepted.span.isBefore(span)
        && ends.allSatisfy { $0.span.isBefore(accepted.span) || span.isBefore($0.span) }
    }
  }

  private mutating func checkAccess() {
    for look in history.looks {
      if look.hasSeen, !mayTakePart(look.user, in: look.share, during: look.span) {
        add(.onlyWhatMayBeRead, "\(look.user) reads \(look.share) without a part in it")
      }
      if !look.hasSeen, mustTakePart(look.user, in: look.share, during: look.span) {
        add(.nothingAcknowledgedIsLost, "\(look.user) accepted \(look.share) and cannot read it")
      }
    }
    for change in history.changes where change.hasHappened == true {
      guard history.heard[change.user] != nil, let share = change.share,
        !mayTakePart(change.user, in: share, during: change.span)
      else { continue }
      add(.onlyWhatMayBeRead, "\(change.user) saved \(change.subject.name) without a part")
    }
  }

  // MARK: Logs

  private mutating func checkOwner() {
    if Set(history.order).count < history.order.count {
      add(.atLeastOnce, "the owner's log has a change twice")
    }
    let counts = Dictionary(grouping: history.subjects, by: \.subject).mapValues(\.count)
    for change in history.changes {
      let count = counts[change.subject] ?? 0
      if change.hasHappened == true, count == 0 {
        add(.nothingAcknowledgedIsLost, "the owner's log lacks \(change.subject)")
      }
      if count > 1 || (change.hasHappened == false && count > 0) {
        add(.atLeastOnce, "\(change.subject) is \(count) times in the owner's log")
      }
    }
  }

  private mutating func checkLog(of user: String) {
    let heard = history.heard[user] ?? []
    let places = Dictionary(
      history.order.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    let unknown = heard.filter { places[$0] == nil }
    if !unknown.isEmpty { add(.atLeastOnce, "\(user) was notified of no change: \(unknown)") }
    if Set(heard).count < heard.count { add(.atLeastOnce, "\(user) was notified twice") }
    let found = heard.compactMap { places[$0] }
    if zip(found, found.dropFirst()).contains(where: { $0 > $1 }) {
      add(.order, "\(user)'s log has another order than the owner's")
    }
    let own = Set(heard)
    var sequences: [String: [(change: SharingHistory.Change, isHeard: Bool)]] = [:]
    for entry in history.subjects.sorted(by: {
      places[$0.notificationID] ?? 0 < places[$1.notificationID] ?? 0
    }) {
      guard let change = changes[entry.subject] else { continue }
      let isHeard = own.contains(entry.notificationID)
      if let share = change.share {
        sequences[share, default: []].append((change, isHeard))
      } else if isHeard {
        add(
          .onlyWhatMayBeRead, "\(user) was notified of \(change.subject.name), which is not shared")
      }
    }
    for (share, sequence) in sequences.sorted(by: { $0.key < $1.key }) {
      checkSequence(sequence, in: share, of: user)
    }
  }

  /// Checks which changes of a share a user was notified of.
  private mutating func checkSequence(
    _ sequence: [(change: SharingHistory.Change, isHeard: Bool)], in share: String, of user: String
  ) {
    let ends = ends(user, share)
    var last: SharingHistory.Change?
    var missing: [SharingHistory.Change] = []
    for (change, isHeard) in sequence {
      guard isHeard else {
        missing.append(change)
        var rest = change.span
        rest.ended = Span.never
        if mustTakePart(user, in: share, during: rest) {
          add(.nothingAcknowledgedIsLost, "\(user) was not notified of \(change.subject)")
        }
        continue
      }
      if !mayTakePart(user, in: share, during: change.span) {
        add(.onlyWhatMayBeRead, "\(user) was notified of \(change.subject) after the removal")
      }
      if let last, !missing.isEmpty,
        ends.allSatisfy({ $0.span.isBefore(last.span) || change.span.isBefore($0.span) })
      {
        add(
          .nothingAcknowledgedIsLost,
          "\(user) was notified of \(last.subject) and \(change.subject), and not of "
            + "\(missing.map(\.subject.name)) between them")
      }
      last = change
      missing = []
    }
  }
}
