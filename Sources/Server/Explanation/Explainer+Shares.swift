import CloudKitModel
import Storage
import StoreModel

// Changes of private databases, as participants of shares learn of them.
extension Explainer {
  /// Adds the notifications of participants about a change in another user's private database, and
  /// their subscriptions that stayed silent.
  ///
  /// - Parameter effort: the number of subscriptions that may still be examined. The method reduces
  ///   it.
  func add(
    _ forwards: [ForwardedChange], about question: Question,
    to explanation: inout ChangeExplanation,
    effort: inout Int
  ) async throws {
    for forward in forwards {
      let question = Question(
        subscriber: forward.user, subscriptionID: question.subscriptionID)
      var part = ChangeExplanation(
        sequence: 0, change: forward.change.change, hasFields: true,
        dispatched: explanation.dispatched)
      try await addNotifications(of: forward.change, about: question, in: &part)
      try await addSilent(of: forward.change, about: question, in: &part, effort: &effort)
      if let reason = forward.obstacle.map(SilenceReason.init)
        ?? (explanation.dispatched == nil ? SilenceReason.forwardWaiting : nil)
      {
        for index in part.silent.indices { part.silent[index].add(reason) }
      }
      explanation.notifications += part.notifications
      explanation.moreNotifications = explanation.moreNotifications || part.moreNotifications
      let room = max(0, limits.silent - explanation.silent.count)
      explanation.silent += part.silent.prefix(room)
      explanation.moreSilent =
        explanation.moreSilent || part.moreSilent || part.silent.count > room
    }
  }
}

extension SilentSubscription {
  /// Puts a reason in front of the others. The notification that should have been logged was not due
  /// then.
  fileprivate mutating func add(_ reason: SilenceReason) {
    reasons = [reason] + reasons.filter { $0.code != .notLogged }
  }
}

extension SilenceReason {
  fileprivate init(_ obstacle: ForwardingObstacle) {
    switch obstacle {
    case .notParticipant(let since?):
      self.init(.notParticipant, "the record is not shared with the user since \(since.iso8601)")
    case .notParticipant(nil):
      self.init(.notParticipant, "the record is not shared with the user")
    case .notAccepted:
      self.init(
        .notAccepted,
        "the user was invited, and had not accepted the share when the change was committed")
    case .outsideHierarchy:
      self.init(
        .outsideHierarchy,
        "the user takes part in a share of the zone, and the record is not below its root")
    }
  }

  fileprivate static let forwardWaiting = SilenceReason(
    .forwardWaiting, "the change waits for the dispatcher, which forwards it to participants")
}
