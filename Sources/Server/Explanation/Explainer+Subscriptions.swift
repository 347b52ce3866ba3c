import CloudKitModel
import Matching
import StoreModel

// The history of existing subscriptions, and dry runs of proposed changes and subscriptions.
extension Explainer {
  /// Explains the recent notifications of a subscription, and counts how many of the kept changes
  /// it matches.
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
    if state == nil { explanation.place = try await place(of: name, besides: database) }
    if let state {
      let run = try await dryRun(
        state.stored.subscription, of: name.subscriber, in: database, from: state.stored.version)
      explanation.tally = run.tally
      explanation.moreChanges = run.next != nil
    }
    return explanation
  }

  /// Returns the changes, among those that the store keeps, that would have fired a subscription.
  /// The newest change is first.
  ///
  /// The method examines at most ``Limits/changesTried`` changes and returns at most
  /// ``Limits/changes``.
  ///
  /// - Parameters:
  ///   - subscription: the proposed subscription; it need not exist.
  ///   - subscriber: the user record name of the subscription's owner, whose access rights apply.
  ///   - version: a subscription version, a number that each change of the database's subscriptions
  ///     increases. Changes of records that were committed at a smaller version are not examined.
  ///   - sequence: a sequence number. Only changes with a smaller number are examined; nil sets no
  ///     limit.
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
          run.tally.checkedWithoutMatch += 1
        }
      }
      guard page.count == limit else { return run }
      last = page.last?.sequence
    }
  }

  /// Returns the subscriptions that a change would fire now, and the reasons why other
  /// subscriptions would not fire. Nothing is saved.
  ///
  /// If there is an index, the index returns the subscriptions that fire. The method then examines
  /// subscriptions only until it has found ``Limits/silent`` silent ones. Without an index, the
  /// method examines subscriptions up to ``Limits/subscriptionsTried``: 10,000 take 0.1–0.2
  /// seconds.
  ///
  /// - Parameters:
  ///   - question: restricts the examined subscriptions. With a restriction, the index is not used.
  ///   - name: the subscription after which the method continues; nil to begin with the first one.
  /// - Complexity: O(*n*), where *n* is the number of examined subscriptions.
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

  /// Examines one subscription and adds it to the result as firing or silent, if the list in the
  /// result is not full.
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
    // The index has returned the firing subscriptions already.
    guard run.fitting == nil else { return }
    if run.firing.count < limits.notifications {
      run.firing.append(stored.name)
    } else {
      run.moreFiring = true
    }
  }

  /// The number of subscriptions or changes that one call of the store reads.
  private static let page = 500

  /// Returns the reason why a subscriber may not read a record; nil if the subscriber may read it.
  ///
  /// - Parameter known: the known access rights. Each key consists of a subscriber's user record
  ///   name, a NUL character and a record type. The method adds the access rights that it reads. At
  ///   10,000 entries, it empties the dictionary first.
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
  /// Counts each filter that a changed record does not match, if the record has the subscription's
  /// record type.
  fileprivate mutating func count(_ change: Change, against subscription: Subscription) {
    guard case .query(let query, _, _) = subscription.kind, let record = change.record,
      record.recordType == query.recordType
    else { return }
    for filter in query.filters where !filter.matches(record) { refusals[filter, default: 0] += 1 }
  }
}
