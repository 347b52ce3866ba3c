import CloudKitModel
import Matching
import StoreModel

// What subscriptions have done, and what others would do.
extension Explainer {
  /// What a subscription has done of late, and what it costs.
  public func explain(
    _ name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionExplanation {
    let state = try await store.changeHistory.subscriptionState(of: name, in: database)
    var explanation = SubscriptionExplanation(subscription: state?.stored.subscription)
    explanation.deleted = try await store.changeHistory.subscriptionDeletion(
      of: name, in: database)?.deleted
    for past in try await store.changeHistory.notifications(
      ofSubscription: name, in: database, limit: limits.changes)
    {
      explanation.firings.append(try await explain(past))
    }
    if let state {
      let run = try await dryRun(
        state.stored.subscription, of: name.subscriber, in: database, from: state.stored.version)
      explanation.tally = run.tally
      explanation.moreChanges = run.next != nil
    }
    return explanation
  }

  /// Which of the changes that are kept would have fired a subscription.
  ///
  /// - Parameters:
  ///   - version: only changes from this subscription version of the database on.
  ///   - sequence: only changes before this one.
  public func dryRun(
    _ subscription: Subscription, of subscriber: String, in database: DatabaseID,
    from version: Int64 = .min, before sequence: Int64? = nil
  ) async throws -> SubscriptionDryRun {
    var run = SubscriptionDryRun(fitting: [], tally: .init())
    let key = SubscriptionKey(
      subscriber: subscriber, subscriptionID: subscription.subscriptionID)
    var index = SubscriptionIndex()
    index.insert(subscription, for: key, version: .min)
    var scratch = MatchScratch()
    var access: [String: RecordAccess] = [:]
    var last = sequence
    while true {
      let limit = min(Self.page, limits.changesTried - run.tally.changes)
      guard limit > 0 else {
        run.next = last
        return run
      }
      let page = try await store.changeHistory.pastChanges(
        of: nil, in: database, before: last, limit: limit)
      for past in page {
        guard past.subscriptionVersion >= version else { return run }
        run.tally.changes += 1
        let change = past.change
        run.tally.since = change.timestamp
        guard past.hasFields || !subscription.hasFilters else { continue }
        let lookedAt = scratch.candidateCount
        index.forEachMatch(of: change, savedBy: .max, using: &scratch) { _ in }
        run.tally.count(change, against: subscription)
        if subscription.matches(change) {
          let refusal = try await refusal(
            ofReading: change.record, subscriber, in: database, known: &access)
          guard refusal == nil else { continue }
          run.tally.fitting += 1
          if run.fitting.count < limits.changes { run.fitting.append(past) }
        } else if scratch.candidateCount > lookedAt {
          run.tally.lookedAtInVain += 1
        }
      }
      guard page.count == limit else { return run }
      last = page.last?.sequence
    }
  }

  /// Which subscriptions would fire, had this change been made just now, and why others would not.
  ///
  /// With an index those that fire are told by it, and the others are looked at until so many are told
  /// as there is room for. Without one all are looked at, one after the other, as far as the limit
  /// allows: ten thousand take a tenth of a second or two.
  ///
  /// - Parameters:
  ///   - question: of which of them it is told.
  ///   - name: goes on behind this one.
  public func dryRun(
    _ change: Change, in database: DatabaseID, about question: Question = Question(),
    after name: SubscriptionName? = nil
  ) async throws -> RecordDryRun {
    var run = RecordDryRun()
    var access: [String: RecordAccess] = [:]
    if question == Question(), let found = try await index?(change, database) {
      run.fitting = found.count
      if name == nil {
        for name in found.names {
          guard
            try await refusal(
              ofReading: change.record, name.subscriber, in: database, known: &access) == nil
          else { continue }
          if run.firing.count == limits.notifications { break }
          run.firing.append(name)
        }
        run.moreFiring = found.count > found.names.count
      }
    }
    var last = name
    var effort = limits.subscriptionsTried
    while true {
      let limit = min(Self.page, effort)
      guard limit > 0 else {
        run.next = last
        return run
      }
      let page = try await store.changeHistory.subscriptionStates(
        withID: question.subscriptionID, of: question.subscriber, in: database, after: last,
        limit: limit)
      effort -= limit
      for state in page.states {
        if run.silent.count == limits.silent {
          if run.fitting != nil {
            run.next = last
            return run
          }
          run.moreSilent = true
        }
        last = state.stored.name
        run.lookedAt += 1
        try await look(
          at: state.stored, for: change, in: database, about: question, known: &access, &run)
      }
      guard let next = page.next else { return run }
      last = next
    }
  }

  private func look(
    at stored: StoredSubscription, for change: Change, in database: DatabaseID,
    about question: Question, known access: inout [String: RecordAccess], _ run: inout RecordDryRun
  ) async throws {
    let fits = stored.subscription.matches(change)
    guard fits || run.silent.count < limits.silent else { return }
    let type = question == Question() ? change.record?.recordType : nil
    guard fits || stored.subscription.isAbout(recordType: type) else { return }
    let refusal = try await refusal(
      ofReading: change.record, stored.subscriber, in: database, known: &access)
    guard fits, refusal == nil else {
      guard run.silent.count < limits.silent else { return }
      return run.silent.append(
        SilentSubscription(
          subscriber: stored.subscriber, subscriptionID: stored.subscription.subscriptionID,
          reasons: SilenceReason.reasons(
            against: stored.subscription, for: change, refusal)))
    }
    // The index has told them already.
    guard run.fitting == nil else { return }
    if run.firing.count < limits.notifications {
      run.firing.append(stored.name)
    } else {
      run.moreFiring = true
    }
  }

  private static let page = 500

  /// Why a subscriber may not read a record; nil where permitted.
  func refusal(
    ofReading record: Record?, _ subscriber: String, in database: DatabaseID,
    known: inout [String: RecordAccess]
  ) async throws -> AccessRefusal? {
    guard let record else { return nil }
    let key = subscriber + "\u{0}" + record.recordType
    if let access = known[key] { return access.refusal(ofReading: record) }
    let access =
      try await store.records.access(
        of: .user(userRecordName: subscriber), toTypes: [record.recordType], in: database)[
        record.recordType] ?? .full
    if known.count >= 10_000 { known = [:] }
    known[key] = access
    return access.refusal(ofReading: record)
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
