import CloudKitModel
import Storage
import StoreModel

// Subscriptions that did not fire on a change.
extension Explainer {
  /// Adds the subscriptions that did not fire on a change, with the reasons.
  ///
  /// - Parameter effort: the number of subscriptions that may still be examined. The method reduces
  ///   this number. At 0, the method sets ``ChangeExplanation/moreSilent`` and returns.
  func addSilent(
    of past: PastChange, about question: Question, in explanation: inout ChangeExplanation,
    effort: inout Int
  ) async throws {
    var fired = Set(
      explanation.notifications.map {
        SubscriptionName(
          subscriber: $0.entry.notification.subscriber,
          subscriptionID: $0.entry.notification.subscription.subscriptionID)
      })
    if let name = question.name {
      guard !fired.contains(name) else { return }
      explanation.silent = [
        SilentSubscription(
          subscriber: name.subscriber, subscriptionID: name.subscriptionID,
          reasons: try await reasons(against: name, for: past))
      ]
      return
    }
    var last: SubscriptionName?
    var access: [String: RecordAccess] = [:]
    // The subscribers whose notifications were searched by themselves.
    var searched: Set<String> = []
    // If the question names no subscriber and no ID, query subscriptions to other record types are
    // left out. They would only fill the answer.
    let type = question == Question() ? past.change.record?.recordType : nil
    while true {
      guard effort > 0 else {
        explanation.moreSilent = true
        return
      }
      let limit = min(effort, 500)
      let page = try await store.changeHistory.subscriptionStates(
        withID: question.subscriptionID, of: question.subscriber, in: past.database, after: last,
        limit: limit)
      effort -= page.next == nil ? page.states.count : limit
      for state in page.states
      where !fired.contains(state.stored.name)
        && state.stored.subscription.isAbout(recordType: type)
      {
        guard explanation.silent.count < limits.silent else {
          explanation.moreSilent = true
          return
        }
        let reasons = try await reasons(against: state, for: past, access: &access)
        let subscriber = state.stored.subscriber
        if reasons.first?.code == .notLogged, question.subscriber == nil,
          searched.insert(subscriber).inserted
        {
          fired.formUnion(
            try await addLateNotifications(
              of: past, to: subscriber, about: question, in: &explanation))
        }
        if fired.contains(state.stored.name) { continue }
        // If not all notifications of the change were read, the subscription may have fired.
        let isUncertain = explanation.moreNotifications && reasons.first?.code == .notLogged
        guard !isUncertain else { continue }
        explanation.silent.append(
          SilentSubscription(
            subscriber: subscriber,
            subscriptionID: state.stored.subscription.subscriptionID, reasons: reasons))
      }
      guard let next = page.next else { return }
      last = next
    }
  }

  /// Adds the notifications of a change to a subscriber for whom it was deferred, because the
  /// subscriber has very many. They were logged after the change was dispatched, and only a search
  /// for this subscriber finds them.
  ///
  /// - Returns: the subscriptions that fired.
  private func addLateNotifications(
    of past: PastChange, to subscriber: String, about question: Question,
    in explanation: inout ChangeExplanation
  ) async throws -> [SubscriptionName] {
    let late = try await store.changeHistory.notifications(
      ofChange: past, subscriber: subscriber, limit: 1_000
    ).map { ($0, $0.entry.notification) }.filter { question.isAbout($1) }
    for (notification, _) in late {
      guard explanation.notifications.count < limits.notifications else {
        explanation.moreNotifications = true
        break
      }
      explanation.notifications.append(try await explain(notification))
    }
    return late.map {
      SubscriptionName(
        subscriber: subscriber, subscriptionID: $1.subscription.subscriptionID)
    }
  }

  /// Returns the reasons why the subscription with this name did not fire. The subscription may not
  /// exist.
  private func reasons(
    against name: SubscriptionName, for past: PastChange
  ) async throws -> [SilenceReason] {
    if let state = try await store.changeHistory.subscriptionState(of: name, in: past.database) {
      var access: [String: RecordAccess] = [:]
      return try await reasons(against: state, for: past, access: &access)
    }
    if let deletion = try await store.changeHistory.subscriptionDeletion(
      of: name, in: past.database)
    {
      let time = deletion.deleted.iso8601
      let when =
        deletion.version <= past.subscriptionVersion
        ? "the subscription was deleted at \(time), before the change"
        : "the subscription was deleted at \(time), after the change; its content is not known"
      return [SilenceReason(.deletedSubscription, when)]
    }
    return [try await whereabouts(of: name, besides: past.database)]
  }

  /// Returns the reason for a subscription that is not in the database: the other place where it
  /// is, or that there is none.
  private func whereabouts(
    of name: SubscriptionName, besides database: DatabaseID
  ) async throws -> SilenceReason {
    let here = try await store.databases.address(of: database)
    guard let there = try await place(of: name, besides: database) else {
      return SilenceReason(
        .unknownSubscription,
        "\(name.subscriber) has no subscription '\(name.subscriptionID)' in this container")
    }
    guard there.environment == here.environment else {
      return SilenceReason(
        .otherEnvironment,
        "the subscription is in the \(there.environment.rawValue) environment, and the change is in "
          + here.environment.rawValue)
    }
    let (its, owner) = (there.scope, there.owner ?? "")
    return SilenceReason(
      .otherDatabase,
      its == here.scope
        ? "the subscription is in the \(its) database of \(owner), and the change is in that of "
          + "\(here.owner ?? ""): nothing of it is shared with \(owner)"
        : "the subscription is in the \(its) database, and the change is in the \(here.scope) one")
  }

  /// Returns the address of the other database that has a subscription; nil if none has it. The method
  /// searches the public database and the subscriber's databases of the same container, first in
  /// the same environment, then in the other one.
  func place(
    of name: SubscriptionName, besides database: DatabaseID
  ) async throws -> DatabaseAddress? {
    let here = try await store.databases.address(of: database)
    let elsewhere = ContainerEnvironment.allCases.filter { $0 != here.environment }
    for environment in [here.environment] + elsewhere {
      for scope in [DatabaseScope.public, .private, .shared] {
        let there = DatabaseAddress(
          container: here.container, environment: environment, scope: scope,
          owner: scope == .public ? nil : name.subscriber)
        guard there != here, let other = try await store.databases.existingDatabase(at: there),
          try await store.changeHistory.subscriptionState(of: name, in: other) != nil
        else { continue }
        return there
      }
    }
    return nil
  }

  /// Returns the reasons why an existing subscription did not fire.
  ///
  /// - Parameter access: the known access rights of subscribers, as in
  ///   ``refusal(ofReading:_:in:known:)``. The method adds the access rights that it reads.
  private func reasons(
    against state: SubscriptionState, for past: PastChange, access: inout [String: RecordAccess]
  ) async throws -> [SilenceReason] {
    guard state.stored.version <= past.subscriptionVersion else {
      return [
        SilenceReason(.notYetSaved, "the subscription was saved after the change was committed")
      ]
    }
    let refusal = try await refusal(
      ofReading: past.change.record, state.stored.subscriber, in: past.database, known: &access)
    var reasons = SilenceReason.reasons(
      against: past.hasFields
        ? state.stored.subscription : state.stored.subscription.withoutFilters,
      for: past.change, refusal)
    if reasons.isEmpty, !past.hasFields, state.stored.subscription.hasFilters {
      reasons = [
        SilenceReason(.valuesNotKept, "the change was too large for its values to be kept")
      ]
    }
    if state.changed > past.subscriptionVersion {
      reasons.append(
        SilenceReason(
          .changedSince,
          "the subscription was edited after the change was committed; the reasons are of its new content"
        ))
    }
    if reasons.isEmpty {
      reasons = [
        state.stored.subscription.firesOnce
          ? try await nothingOwed(to: state.stored.subscriber, of: past)
          : SilenceReason(
            .notLogged,
            "it should have fired: the notification is no longer in the log, or waits because the "
              + "subscriber has very many, or the subscriber could not read the record then")
      ]
    }
    return reasons
  }
}

extension Subscription {
  /// Whether the subscription may concern records of a type. The result is false only for a query
  /// subscription to another type. With nil, the result is true.
  func isAbout(recordType: String?) -> Bool {
    guard let recordType, case .query(let query, _, _) = kind else { return true }
    return query.recordType == recordType
  }

  var hasFilters: Bool { self != withoutFilters }

  /// The same subscription without filters, for changes whose field values were not kept.
  var withoutFilters: Subscription {
    guard case .query(var query, let zoneID, let options) = kind else { return self }
    query.filters = []
    var subscription = self
    subscription.kind = .query(query, zoneID: zoneID, options: options)
    return subscription
  }
}
