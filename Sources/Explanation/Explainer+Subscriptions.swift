import CloudKitModel
import Matching
import Storage

// What subscriptions have done, and what others would do.
extension Explainer {
  /// What a subscription has done of late, and what it costs.
  public func explain(
    _ name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionExplanation {
    let state = try await store.subscriptionState(of: name, in: database)
    var explanation = SubscriptionExplanation(subscription: state?.stored.subscription)
    explanation.deleted = try await store.subscriptionDeletion(of: name, in: database)?.deleted
    for past in try await store.notifications(
      ofSubscription: name, in: database, limit: limits.changes)
    {
      explanation.firings.append(try await explain(past))
    }
    if let state {
      explanation.tally = try await dryRun(
        state.stored.subscription, of: name.subscriber, in: database, from: state.stored.version
      ).tally
    }
    return explanation
  }

  /// Which of the changes that are kept would have fired a subscription.
  ///
  /// - Parameter version: only changes from this subscription version of the database on.
  public func dryRun(
    _ subscription: Subscription, of subscriber: String, in database: DatabaseID,
    from version: Int64 = .min
  ) async throws -> SubscriptionDryRun {
    var run = SubscriptionDryRun(fitting: [], tally: .init())
    let key = SubscriptionKey(
      subscriber: subscriber, subscriptionID: subscription.subscriptionID)
    var index = SubscriptionIndex()
    index.insert(subscription, for: key, version: .min)
    var scratch = MatchScratch()
    var access: [String: RecordAccess] = [:]
    var last: Int64?
    while true {
      let page = try await store.pastChanges(
        of: nil, in: database, before: last, limit: Self.page)
      for past in page {
        guard past.subscriptionVersion >= version else { return run }
        run.tally.changes += 1
        run.tally.since = past.change?.timestamp ?? past.dispatched
        guard let change = past.change else { continue }
        let lookedAt = scratch.candidateCount
        index.forEachMatch(of: change, savedBy: .max, using: &scratch) { _ in }
        run.tally.count(change, against: subscription)
        if subscription.matches(change) {
          let mayRead = try await mayRead(
            change.record, subscriber, in: database, known: &access)
          guard mayRead else { continue }
          run.tally.fitting += 1
          if run.fitting.count < limits.changes { run.fitting.append(past) }
        } else if scratch.candidateCount > lookedAt {
          run.tally.lookedAtInVain += 1
        }
      }
      guard page.count == Self.page else { return run }
      last = page.last?.sequence
    }
  }

  /// Which subscriptions would fire, had this change been made just now.
  ///
  /// All subscriptions of the database are looked at, one after the other: a million take seconds.
  ///
  /// - Parameter question: of which of them the reasons are told.
  public func dryRun(
    _ change: Change, in database: DatabaseID, about question: Question = Question()
  ) async throws -> RecordDryRun {
    var run = RecordDryRun(firing: [], moreFiring: false, silent: [])
    var access: [String: RecordAccess] = [:]
    var last: SubscriptionName?
    while true {
      let page = try await store.subscriptionStates(
        withID: question.subscriptionID, of: question.subscriber, in: database, after: last,
        limit: Self.page)
      for state in page {
        let name = state.stored.name
        let mayRead = try await mayRead(
          change.record, name.subscriber, in: database, known: &access)
        if mayRead, state.stored.subscription.matches(change) {
          if run.firing.count < limits.notifications {
            run.firing.append(name)
          } else {
            run.moreFiring = true
          }
        } else if run.silent.count < limits.silent {
          let reasons = SilenceReason.reasons(
            against: state.stored.subscription, for: change, mayRead: mayRead)
          guard question != Question() || reasons.first?.code != .recordType else { continue }
          run.silent.append(
            SilentSubscription(
              subscriber: name.subscriber, subscriptionID: name.subscriptionID, reasons: reasons))
        }
      }
      guard page.count == Self.page else { return run }
      last = page.last?.stored.name
    }
  }

  private static let page = 500

  func mayRead(
    _ record: Record?, _ subscriber: String, in database: DatabaseID,
    known: inout [String: RecordAccess]
  ) async throws -> Bool {
    guard let record else { return true }
    let key = subscriber + "\u{0}" + record.recordType
    if let access = known[key] { return access.mayRead(record) }
    let access =
      try await store.access(of: subscriber, toTypes: [record.recordType], in: database)[
        record.recordType] ?? .full
    if known.count >= 10_000 { known = [:] }
    known[key] = access
    return access.mayRead(record)
  }
}

extension SubscriptionExplanation.Tally {
  /// Counts the filters that say no to a change of the subscription's own record type.
  fileprivate mutating func count(_ change: Change, against subscription: Subscription) {
    guard case .query(let query, _, _) = subscription.kind, let record = change.record,
      record.recordType == query.recordType
    else { return }
    for filter in query.filters where !filter.matches(record) { refusals[filter, default: 0] += 1 }
  }
}
