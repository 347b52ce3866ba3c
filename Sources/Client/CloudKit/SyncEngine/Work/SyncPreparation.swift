/// The connection of a sync engine to the account and to the pushes.
struct SyncPreparation {
  /// Whether the user of the state is that of the account, as far as the engine knows.
  var isAccountChecked = false
  /// Whether the engine's subscription was found or saved.
  var isSubscribed = false
  /// The hub that reads the web courier, and the number of the engine there; nil before the engine has
  /// joined it.
  var courier: (hub: CourierHub, receiver: Int)?
  /// The observer of `CKAccountChanged`. Foundation accepts it from any thread.
  nonisolated(unsafe) var accountObserver: (any NSObjectProtocol)?
}

/// The steps of a sync engine before it fetches and sends.
extension SyncWorker {
  /// Before the engine's own work, also connects the engine to the pushes. Throws
  /// `notAuthenticated` without an account.
  func prepare(for reason: CKSyncEngine.SyncReason) async throws {
    switch reason {
    case .manual:
      try await checkAccount()
    case .scheduled:
      if !preparation.withLock({ $0.isAccountChecked }) { try await checkAccount() }
      joinCourier()
      if !preparation.withLock({ $0.isSubscribed }) { try await subscribe() }
    }
  }

  // MARK: The account

  /// Compares the user of the account with that of the state. If they differ, resets the state and
  /// passes the event to the delegate.
  private func checkAccount() async throws {
    try checkCancellation()
    let now = try await requests.user()
    let before = state.values.withLock { $0.user }
    if let change = CKSyncEngine.Event.AccountChange.ChangeType(from: before, to: now) {
      preparation.withLock { $0.isSubscribed = false }
      if before != nil { preparation.withLock { $0.courier?.hub.restart() } }
      state.update { state in
        if before != nil { state = SyncState() }
        state.user = now
      }
      try await emit(.accountChange(.init(changeType: change)))
    }
    guard now != nil else {
      throw CKError(.notAuthenticated, "the engine cannot work without an account")
    }
    preparation.withLock { $0.isAccountChecked = true }
  }

  func observeAccount() {
    let observer = NotificationCenter.default.addObserver(
      forName: .CKAccountChanged, object: nil, queue: nil
    ) { [weak self] _ in
      self?.preparation.withLock { $0.isAccountChecked = false }
      self?.resume()
    }
    preparation.withLock { $0.accountObserver = observer }
  }

  // MARK: Pushes

  /// Makes the web courier pass pushes to the engine.
  ///
  /// The method does not wait for the registration of the device, which may need a network that comes
  /// later. When the device is registered, or registered again, the engine fetches, for nothing reported
  /// the changes before.
  private func joinCourier() {
    let joined = preparation.withLock { preparation in
      if preparation.courier == nil, let hub = requests.database.client.value?.courierHub {
        let receiver = hub.join { [weak self] event in
          switch event {
          case .connected: self?.resume()
          case .notification(let userInfo): self?.receive(userInfo)
          // The engine fetches after a quiet time all the same, and asks the hub again then.
          case .failed: break
          }
        }
        preparation.courier = (hub, receiver)
      }
      return preparation.courier
    }
    if let (hub, receiver) = joined { hub.ask(for: receiver) }
  }

  func disconnect() {
    let ended = preparation.withLock { preparation in
      defer { preparation = SyncPreparation() }
      return preparation
    }
    if let observer = ended.accountObserver { NotificationCenter.default.removeObserver(observer) }
    if let courier = ended.courier { courier.hub.leave(courier.receiver) }
  }

  /// Fetches after a push, if it may be of the engine's database.
  func receive(_ userInfo: [AnyHashable: Any]) {
    guard let push = CKNotification(fromRemoteNotificationDictionary: userInfo) else { return }
    let database = requests.database
    guard
      push.containerIdentifier == nil
        || push.containerIdentifier == database.client.value?.containerIdentifier
    else { return }
    let scope =
      switch push {
      case let push as CKDatabaseNotification: push.databaseScope
      case let push as CKRecordZoneNotification: push.databaseScope
      case let push as CKQueryNotification: push.databaseScope
      default: database.databaseScope
      }
    // A payload that was shortened may not name the database.
    switch scope {
    case .public: return
    case .private, .shared: if scope != database.databaseScope { return }
    default: break
    }
    if let zoneID = CKNotification.changedZoneID(in: userInfo),
      state.values.withLock({ $0.zones[zoneID] != nil })
    {
      state.update { $0.noteChanges(in: zoneID) }
    }
    notePush()
  }

  private func subscribe() async throws {
    let database = requests.database
    let known = subscriptionID ?? state.values.withLock { $0.subscriptionID }
    let id: CKSubscription.ID
    if let known {
      id = known
      do {
        _ = try await database.subscription(for: known)
      } catch CKError.unknownItem {
        try await saveSubscription(known)
      }
    } else {
      let found = try await database.allSubscriptions().first {
        ($0 as? CKDatabaseSubscription).map { $0.recordType == nil } ?? false
      }
      id = found?.subscriptionID ?? "CKSyncEngine-\(database.databaseScope)"
      if found == nil { try await saveSubscription(id) }
    }
    if state.values.withLock({ $0.subscriptionID }) != id {
      state.update { $0.subscriptionID = id }
    }
    preparation.withLock { $0.isSubscribed = true }
  }

  private func saveSubscription(_ id: CKSubscription.ID) async throws {
    let subscription = CKDatabaseSubscription(subscriptionID: id)
    let info = CKSubscription.NotificationInfo()
    info.shouldSendContentAvailable = true
    subscription.notificationInfo = info
    _ = try await requests.database.save(subscription)
  }
}

extension CKSyncEngine.Event.AccountChange.ChangeType {
  /// Creates the change from one user to another; nil if they are the same.
  init?(from before: String?, to now: String?) {
    switch (before.map { CKRecord.ID(recordName: $0) }, now.map { CKRecord.ID(recordName: $0) }) {
    case (nil, nil): return nil
    case (nil, let user?): self = .signIn(currentUser: user)
    case (let user?, nil): self = .signOut(previousUser: user)
    case (let previous?, let user?):
      if previous == user { return nil }
      self = .switchAccounts(previousUser: previous, currentUser: user)
    }
  }
}
