extension CKDatabase {
  // MARK: One subscription

  /// Fetches a subscription of the current user.
  ///
  /// - Parameter completionHandler: called on a background queue. A subscription that does not
  ///   exist gives `unknownItem`.
  public func fetch(
    withSubscriptionID subscriptionID: CKSubscription.ID,
    completionHandler: @escaping (CKSubscription?, (any Error)?) -> Void
  ) {
    startFetching(subscriptionID) { completionHandler($0.value, $0.error) }
  }

  /// Returns a subscription of the current user.
  ///
  /// - Throws: `unknownItem` when the subscription does not exist. The server deletes a
  ///   subscription with the option `firesOnce` when the subscription fires.
  @discardableResult
  public func subscription(
    for subscriptionID: CKSubscription.ID
  ) async throws -> CKSubscription {
    try await CKOperation.result { self.startFetching(subscriptionID, $0) }
  }

  /// Saves a subscription. An existing subscription with the same ID is replaced.
  ///
  /// The subscription can fire for each change that is made after the server has answered the save.
  ///
  /// - Parameter completionHandler: called on a background queue. A type of subscription that this
  ///   database does not support gives `invalidArguments`.
  public func save(
    _ subscription: CKSubscription,
    completionHandler: @escaping (CKSubscription?, (any Error)?) -> Void
  ) {
    startSaving(subscription) { completionHandler($0.value, $0.error) }
  }

  /// Saves a subscription. An existing subscription with the same ID is replaced.
  ///
  /// The subscription can fire for each change that is made after the server has answered the save.
  ///
  /// ```swift
  /// let subscription = CKDatabaseSubscription(subscriptionID: "private-changes")
  /// let info = CKSubscription.NotificationInfo()
  /// info.shouldSendContentAvailable = true
  /// subscription.notificationInfo = info
  /// try await container.privateCloudDatabase.save(subscription)
  /// ```
  ///
  /// - Throws: `invalidArguments` for a type of subscription that this database does not support,
  ///   and for a predicate that breaks a rule.
  @discardableResult
  public func save(_ subscription: CKSubscription) async throws -> CKSubscription {
    try await CKOperation.result { self.startSaving(subscription, $0) }
  }

  /// Deletes a subscription.
  ///
  /// - Parameter completionHandler: called on a background queue with the ID. A subscription that
  ///   does not exist gives `unknownItem`.
  public func delete(
    withSubscriptionID subscriptionID: CKSubscription.ID,
    completionHandler: @escaping (String?, (any Error)?) -> Void
  ) {
    startDeleting(subscriptionID) { completionHandler($0.value, $0.error) }
  }

  /// Deletes a subscription.
  ///
  /// - Returns: the ID of the subscription.
  /// - Throws: `unknownItem` when the subscription does not exist.
  @discardableResult
  public func deleteSubscription(
    withID subscriptionID: CKSubscription.ID
  ) async throws -> CKSubscription.ID {
    try await CKOperation.result { self.startDeleting(subscriptionID, $0) }
  }

  // MARK: Several subscriptions

  /// Fetches all subscriptions that the current user has saved in this database.
  ///
  /// - Parameter completionHandler: called on a background queue. The handler gets
  ///   `notAuthenticated` when no user is signed in.
  public func fetchAllSubscriptions(
    completionHandler: @escaping ([CKSubscription]?, (any Error)?) -> Void
  ) {
    startFetchingAllSubscriptions { completionHandler($0.value, $0.error) }
  }

  /// Returns all subscriptions that the current user has saved in this database.
  ///
  /// - Throws: `notAuthenticated` when no user is signed in.
  @discardableResult
  public func allSubscriptions() async throws -> [CKSubscription] {
    try await CKOperation.result { self.startFetchingAllSubscriptions($0) }
  }

  /// Fetches subscriptions by their IDs.
  ///
  /// - Parameter completionHandler: called on a background queue with a result for each
  ///   subscription. A subscription that does not exist has `unknownItem`.
  @preconcurrency
  public func fetch(
    withSubscriptionIDs subscriptionIDs: [CKSubscription.ID],
    completionHandler:
      @escaping @Sendable (
        Result<[CKSubscription.ID: Result<CKSubscription, any Error>], any Error>
      ) -> Void
  ) {
    startFetching(subscriptionIDs, completionHandler)
  }

  /// Returns subscriptions by their IDs.
  ///
  /// - Returns: a result for each subscription. A subscription that does not exist has
  ///   `unknownItem`.
  /// - Throws: an error only when the whole request fails.
  public func subscriptions(
    for ids: [CKSubscription.ID]
  ) async throws -> [CKSubscription.ID: Result<CKSubscription, any Error>] {
    try await CKOperation.result { self.startFetching(ids, $0) }
  }

  /// Saves and deletes subscriptions in one request.
  ///
  /// - Parameters:
  ///   - subscriptionsToSave: the subscriptions to save. Each replaces an existing subscription
  ///     with the same ID.
  ///   - subscriptionIDsToDelete: the IDs of the subscriptions to delete.
  ///   - completionHandler: called on a background queue with a result for each subscription.
  @preconcurrency
  public func modifySubscriptions(
    saving subscriptionsToSave: [CKSubscription],
    deleting subscriptionIDsToDelete: [CKSubscription.ID],
    completionHandler:
      @escaping @Sendable (
        Result<
          (
            saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
            deleteResults: [CKSubscription.ID: Result<Void, any Error>]
          ), any Error
        >
      ) -> Void
  ) {
    startModifying(subscriptionsToSave, subscriptionIDsToDelete, completionHandler)
  }

  /// Saves and deletes subscriptions in one request.
  ///
  /// - Parameters:
  ///   - subscriptionsToSave: the subscriptions to save. Each replaces an existing subscription
  ///     with the same ID.
  ///   - subscriptionIDsToDelete: the IDs of the subscriptions to delete.
  /// - Returns: a result for each subscription. The deletion of a subscription that does not exist
  ///   has `unknownItem`.
  /// - Throws: an error only when the whole request fails.
  @discardableResult
  public func modifySubscriptions(
    saving subscriptionsToSave: [CKSubscription],
    deleting subscriptionIDsToDelete: [CKSubscription.ID]
  ) async throws -> (
    saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
    deleteResults: [CKSubscription.ID: Result<Void, any Error>]
  ) {
    try await CKOperation.result {
      self.startModifying(subscriptionsToSave, subscriptionIDsToDelete, $0)
    }
  }
}

// MARK: - The operations

extension CKDatabase {
  @discardableResult
  private func startFetching(
    _ subscriptionID: CKSubscription.ID, _ completion: @escaping Completion<CKSubscription>
  ) -> CKOperation {
    let items = ItemResults<CKSubscription.ID, CKSubscription>()
    let operation = CKFetchSubscriptionsOperation(subscriptionIDs: [subscriptionID])
    operation.perSubscriptionResultBlock = { items.add($0, $1) }
    operation.fetchSubscriptionsResultBlock = { completion(items.single($0)) }
    return run(operation)
  }

  @discardableResult
  private func startFetching(
    _ subscriptionIDs: [CKSubscription.ID],
    _ completion: @escaping Completion<[CKSubscription.ID: Result<CKSubscription, any Error>]>
  ) -> CKOperation {
    let items = ItemResults<CKSubscription.ID, CKSubscription>()
    let operation = CKFetchSubscriptionsOperation(subscriptionIDs: subscriptionIDs)
    operation.perSubscriptionResultBlock = { items.add($0, $1) }
    operation.fetchSubscriptionsResultBlock = { completion(items.all($0)) }
    return run(operation)
  }

  @discardableResult
  private func startFetchingAllSubscriptions(
    _ completion: @escaping Completion<[CKSubscription]>
  ) -> CKOperation {
    let subscriptions = Locked<[Result<CKSubscription, any Error>]>([])
    let operation = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
    operation.perSubscriptionResultBlock = { _, result in
      subscriptions.withLock { $0.append(result) }
    }
    operation.fetchSubscriptionsResultBlock = { whole in
      // If one subscription cannot be read, the whole fetch fails, because a list without it would
      // look complete.
      completion(
        whole.flatMap { Result { try subscriptions.withLock { $0 }.map { try $0.get() } } })
    }
    return run(operation)
  }

  @discardableResult
  private func startSaving(
    _ subscription: CKSubscription, _ completion: @escaping Completion<CKSubscription>
  ) -> CKOperation {
    let items = ItemResults<CKSubscription.ID, CKSubscription>()
    let operation = CKModifySubscriptionsOperation(subscriptionsToSave: [subscription])
    operation.perSubscriptionSaveBlock = { items.add($0, $1) }
    operation.modifySubscriptionsResultBlock = { completion(items.single($0)) }
    return run(operation)
  }

  @discardableResult
  private func startDeleting(
    _ subscriptionID: CKSubscription.ID, _ completion: @escaping Completion<CKSubscription.ID>
  ) -> CKOperation {
    let items = ItemResults<CKSubscription.ID, Void>()
    let operation = CKModifySubscriptionsOperation(subscriptionIDsToDelete: [subscriptionID])
    operation.perSubscriptionDeleteBlock = { items.add($0, $1) }
    operation.modifySubscriptionsResultBlock = {
      completion(items.single($0).map { subscriptionID })
    }
    return run(operation)
  }

  @discardableResult
  private func startModifying(
    _ subscriptions: [CKSubscription], _ subscriptionIDs: [CKSubscription.ID],
    _ completion:
      @escaping Completion<
        (
          saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
          deleteResults: [CKSubscription.ID: Result<Void, any Error>]
        )
      >
  ) -> CKOperation {
    let saves = ItemResults<CKSubscription.ID, CKSubscription>()
    let deletions = ItemResults<CKSubscription.ID, Void>()
    let operation = CKModifySubscriptionsOperation(
      subscriptionsToSave: subscriptions, subscriptionIDsToDelete: subscriptionIDs)
    operation.perSubscriptionSaveBlock = { saves.add($0, $1) }
    operation.perSubscriptionDeleteBlock = { deletions.add($0, $1) }
    operation.modifySubscriptionsResultBlock = { whole in
      completion(whole.map { (saves.results, deletions.results) })
    }
    return run(operation)
  }
}
