import CloudKitModel
import SQLEngine
import StoreModel

/// The last step of dispatching changes: it writes the notifications of changes, in one
/// transaction.
///
/// The dispatcher has matched each change with subscriptions. A subscription that a change fires is
/// a *firing*. For each firing, the completion writes an entry of the notification log. It also
/// writes a delivery for each of the subscriber's devices, except the device that made the change
/// (the *origin*).
///
/// The completion also raises badges, deletes the `firesOnce` subscriptions of which a notification is
/// owed to somebody, and stores the dispatch position (``DispatchPosition``). By the stored position it skips changes that are dispatched
/// already, so nothing is written twice.
///
/// The rows of the log, of its index and of the deliveries are collected, and inserted by
/// statements for many rows.
///
/// ```swift
/// var dispatch = DispatchCompletion(
///   timestamp: timestamp, capacity: capacity, transaction: transaction)
/// try dispatch.complete(changes)
/// return dispatch.outcome
/// ```
struct DispatchCompletion {
  /// The time of the log entries and deliveries.
  let timestamp: Timestamp
  let transaction: StoreTransaction
  /// The log entries and deliveries so far, for the caller.
  var outcome = DispatchOutcome()
  /// The number of deliveries that may still be written, and the number that may still be leased to
  /// the caller. With nil, all deliveries are written and none is leased.
  var capacity: DeliveryCapacity?
  /// The devices of each user, read at the user's first firing in the transaction.
  private var targets: [UserOfDatabase: DispatchTarget] = [:]
  /// The subscription version that this transaction has given to deletions of `firesOnce`
  /// subscriptions, for each database with such a deletion.
  private var versions: [DatabaseID: Int64] = [:]
  /// The dispatch progress of each part of a database, created at the part's first change. A
  /// database that is not divided is one part.
  private var progress: [DatabasePart: DispatchProgress] = [:]
  /// The progress of each deferred subscriber whose changes the transaction dispatches.
  private var deferredProgress: [UserOfDatabase: DeferredProgress] = [:]
  /// The number in place of the newest firing of each user that is not logged
  /// (`MatchedChange.isSkipped`).
  private var skipped: [UserOfDatabase: Int64] = [:]
  /// The users whose newest firing that is not logged has no number yet.
  private var unnumbered: Set<UserOfDatabase> = []
  /// The numbers of the last changes that the transaction forwards to shared databases.
  private var forwarded: [ForwardKey: Int64] = [:]

  /// A shared database, and a private database whose changes are forwarded to it.
  private struct ForwardKey: Hashable {
    var database: DatabaseID
    var source: DatabaseID
  }

  /// Creates a completion, which has written nothing.
  ///
  /// - Parameters:
  ///   - timestamp: the time of the log entries and deliveries.
  ///   - capacity: the limits on deliveries; nil writes all and leases none.
  ///   - transaction: a transaction with the locks of ``WriteLocks/dispatch(of:)``.
  init(timestamp: Timestamp, capacity: DeliveryCapacity?, transaction: StoreTransaction) {
    self.timestamp = timestamp
    self.capacity = capacity
    self.transaction = transaction
  }

  /// Writes the log entries and deliveries of the changes, in the order of the changes, and then
  /// the dispatch positions. Call the method once.
  ///
  /// After an error the transaction must be rolled back, so that nothing is dispatched.
  ///
  /// - Throws: ``StoreError/Code/outOfOrder`` if an earlier undispatched change of a database is
  ///   missing in `changes`. ``StoreError/Code/leaseLost`` if this server has no lease of a part.
  mutating func complete(_ changes: [PreparedChange]) throws {
    let firings = changes.reduce(0) { $0 + $1.matched.firings.count }
    outcome.logged.reserveCapacity(firings)
    outcome.owed.reserveCapacity(firings)
    for (place, change) in changes.enumerated() { try complete(change, at: place) }
    for part in progress.keys.sorted(by: { $0.database < $1.database }) {
      try progress[part]?.write(at: timestamp, in: transaction)
    }
    for (user, progress) in deferredProgress {
      try progress.write(in: transaction)
      try numberSkipped(of: user)
      if let number = skipped[user] {
        try NotificationLogTable(transaction: transaction)
          .noteTrimmed(through: number, of: user.userRecordName, in: user.database)
      }
    }
    for part in Set(changes.map(\.entry.part)) {
      outcome.deferred +=
        deferredProgress.isEmpty
        ? Array(progress[part]?.deferred ?? [])
        : try DeferredDispatchTable(transaction: transaction).subscribers(in: part)
    }
    for target in targets.values where target.logged.entries > 0 {
      outcome.grown.append((target.user, target.logged))
    }
    for (key, through) in forwarded {
      try ForwardTable(transaction: transaction).write(
        through, of: key.source, in: key.database)
    }
  }

  /// Writes the log entries and deliveries of one change, unless the change is dispatched already.
  ///
  /// - Parameter place: the index of the change in the array of ``complete(_:)``.
  private mutating func complete(_ prepared: PreparedChange, at place: Int) throws {
    let matched = prepared.matched
    guard try settle(matched) else { return }
    let entry = matched.entry
    let address = try DatabaseTable(transaction: transaction).address(of: entry.database)
    outcome.addresses[entry.database] = address
    let deferred = progress[entry.part]?.deferred ?? []
    let isOpen = try matched.firings.isEmpty || isReadableByAll(entry.change, at: address)
    var target: DispatchTarget?
    for (firing, notification) in prepared.notifications.elements.enumerated() {
      if !deferred.isEmpty, entry.deferral == nil, deferred.contains(notification.subscriber) {
        continue
      }
      // This check comes before the deletion: a `firesOnce` subscription stays until it fires for a
      // record that its user may read.
      guard try isOpen || mayRead(matched.firings[firing], entry, at: address) else { continue }
      // Firings of one subscriber are mostly adjacent, so the last user's devices are kept at hand.
      if target?.user.userRecordName != notification.subscriber {
        if let target { targets[target.user] = target }
        target = try self.target(
          UserOfDatabase(userRecordName: notification.subscriber, database: entry.database),
          at: address)
      }
      let unsent = try target?.take(of: entry.change, for: &self) ?? []
      if notification.firesOnce, let target {
        guard try isOwed(entry.change, to: target, at: address, unsent),
          try consume(matched.firings[firing], in: entry.database)
        else { continue }
      }
      let content = prepared.notifications.content(at: firing)
      let row = NotificationIndexRow(
        of: entry.change, for: notification.subscriber, in: entry.database,
        sequence: try nextNumber(of: entry.database), logged: timestamp, bytes: content.count)
      log(row, content, unsent)
      file(
        row,
        amongMany: entry.deferral != nil
          || matched.firings.count >= NotificationIndexTable.firingsFiledAtOnce)
      target?.logged += LogGrowth.Amount(entries: 1, bytes: content.count)
      outcome.logged.append(
        DispatchOutcome.Logged(change: place, firing: firing, sequence: row.sequence))
      guard unsent.isDisjoint(with: [.userLimit, .serverLimit]) else { continue }
      for device in target?.devices ?? 0..<0 {
        try owe(
          notification, of: entry.change, loggedAs: row.sequence, toDevice: device,
          in: entry.database)
      }
    }
    if let target { targets[target.user] = target }
  }

  /// Draws a number for firings of a deferred subscriber that are not logged, if there are any since
  /// the last call. They leave the same trace as entries that were trimmed from the log: a number that
  /// no entry has. All firings up to the next logged one share a number, since each number costs the
  /// writer time.
  private mutating func numberSkipped(of user: UserOfDatabase) throws {
    guard unnumbered.remove(user) != nil else { return }
    skipped[user] = try nextNumber(of: user.database)
  }

  /// Advances the dispatch progress of the change's part; see ``DispatchProgress/settle(_:)``.
  ///
  /// - Returns: false if the change is dispatched already. The caller then skips the change.
  private mutating func settle(_ matched: MatchedChange) throws -> Bool {
    if let forwarding = matched.entry.forwarding { return try settle(matched.entry, forwarding) }
    let part = matched.entry.part
    if let subscriber = matched.entry.deferral {
      let user = UserOfDatabase(userRecordName: subscriber, database: part.database)
      let known =
        try deferredProgress[user] ?? DeferredProgress(of: subscriber, in: part, transaction)
      guard var progress = known else { return false }
      defer { deferredProgress[user] = progress }
      guard try progress.settle(matched) else { return false }
      if matched.isSkipped { unnumbered.insert(user) }
      if !matched.firings.isEmpty { try numberSkipped(of: user) }
      return true
    }
    var progress = try self.progress[part] ?? DispatchProgress(of: part, in: transaction)
    defer { self.progress[part] = progress }
    return try progress.settle(matched)
  }

  /// Notes a forwarded change. If the participant's part in the zone ended with it, the pushes of
  /// the zone that wait are not sent.
  ///
  /// - Returns: false if the change was forwarded before. The caller then skips the change.
  private mutating func settle(
    _ entry: OutboxEntry, _ forwarding: ChangeForwarding
  ) throws -> Bool {
    let key = ForwardKey(database: entry.database, source: forwarding.source)
    let through =
      try forwarded[key]
      ?? ForwardTable(transaction: transaction).position(of: key.source, in: key.database)
    guard entry.sequence > through ?? .min else { return false }
    forwarded[key] = entry.sequence
    if forwarding.endsZone {
      try DeliveryTable(transaction: transaction).abandon(
        ofZone: entry.change.zoneID, in: entry.database,
        reason: ChangeForwarding.removedReason, at: timestamp)
    }
    return true
  }

  /// Returns whether every user may read the changed record. If so, no subscriber needs a check.
  ///
  /// The result is true for a change without a record, such as the deletion of a zone.
  private func isReadableByAll(_ change: Change, at address: DatabaseAddress) throws -> Bool {
    guard let record = change.record else { return true }
    return try AccessPolicy.access(
      of: .anonymous, toType: record.recordType, at: address, in: transaction
    ).mayRead(record)
  }

  /// Returns whether the subscriber may read the changed record now. If not, the method adds a
  /// `WithheldNotification` to ``outcome``.
  private mutating func mayRead(
    _ firing: StoredSubscription, _ entry: OutboxEntry, at address: DatabaseAddress
  ) throws -> Bool {
    guard let record = entry.change.record else { return true }
    let access = try AccessPolicy.access(
      of: .user(userRecordName: firing.subscriber), toType: record.recordType, at: address,
      in: transaction)
    guard let refusal = access.refusal(ofReading: record) else { return true }
    outcome.withheld.append(
      WithheldNotification(
        database: entry.database, subscriber: firing.subscriber,
        subscriptionID: firing.subscription.subscriptionID,
        notificationID: entry.change.notificationID,
        reason: "record '\(record.recordID)' of type '\(record.recordType)' cannot be read: "
          + refusal.reason(for: firing.subscriber)))
    return false
  }

  /// Returns whether the notification of a change is owed to a device or a web courier reader other than
  /// the origin. A device that its push service has refused gets nothing, so it does not count. If nobody
  /// is owed the notification, the firing of a `firesOnce` subscription sends nothing, and the subscription stays.
  ///
  /// - Parameter unsent: the reasons why some devices get no delivery.
  private func isOwed(
    _ change: Change, to target: DispatchTarget, at address: DatabaseAddress,
    _ unsent: UnsentDeliveries
  ) throws -> Bool {
    if unsent.isDisjoint(with: [.userLimit, .serverLimit]),
      outcome.devices[target.devices].contains(where: {
        !$0.isOrigin(of: change) && capacity?.isRefused($0) != true
      })
    {
      return true
    }
    return try DeviceTable(transaction: transaction)
      .readers(of: target.user.userRecordName, at: address, now: timestamp)
      .contains { !$0.isOrigin(of: change) }
  }

  /// Deletes a `firesOnce` subscription that fires.
  ///
  /// All deletions of this transaction in one database have the same subscription version.
  ///
  /// - Returns: false if the subscription was deleted or replaced since it was matched. The caller
  ///   then skips the firing.
  private mutating func consume(
    _ firing: StoredSubscription, in database: DatabaseID
  ) throws -> Bool {
    let version =
      try versions[database]
      ?? DatabaseTable(transaction: transaction).raiseSubscriptionVersion(of: database)
    versions[database] = version
    return try SubscriptionTable(transaction: transaction).delete(
      firing.name, expecting: firing.subscription, in: database, version: version,
      timestamp: timestamp)
  }

  /// Adds an entry to the notification log.
  private func log(
    _ row: NotificationIndexRow, _ content: ArraySlice<UInt8>, _ unsent: UnsentDeliveries
  ) {
    transaction.writes.log.add { NotificationLogTable.append(row, content, unsent, to: &$0) }
  }

  /// Adds an entry to the log's index by subscriber: at once, or later together with other entries.
  ///
  /// On a server with a ``NotificationTail``, entries wait in memory, and a later commit inserts
  /// many of them. Entries of a change with many firings are always inserted at once.
  ///
  /// - Parameter amongMany: whether the change has at least
  ///   ``NotificationIndexTable/firingsFiledAtOnce`` firings.
  private func file(_ row: NotificationIndexRow, amongMany: Bool) {
    guard transaction.tail == nil || amongMany else {
      return transaction.tailChange.added.append(row)
    }
    transaction.writes.logIndex.add {
      row.appendArguments(run: NotificationIndexTable.firstRun, to: &$0)
    }
  }

  /// Adds the delivery of the last log entry to one device, unless the device made the change.
  ///
  /// If the route has capacity, the delivery is leased to the caller. Otherwise the delivery waits
  /// in the store.
  ///
  /// - Parameters:
  ///   - notification: the notification of the log entry.
  ///   - sequence: the number of the log entry.
  ///   - place: the index of the device in ``DispatchOutcome/devices``.
  private mutating func owe(
    _ notification: PreparedNotifications.Element, of change: Change, loggedAs sequence: Int64,
    toDevice place: Int, in database: DatabaseID
  ) throws {
    if outcome.devices[place].isOrigin(of: change) { return }
    let device = outcome.deviceNumbers[place]
    let kind = outcome.devices[place].kind
    let badge =
      notification.raisesBadge
      ? try DeviceTable(transaction: transaction)
        .raiseBadge(of: outcome.devices[place].name) : nil
    let number = try nextNumber(of: database)
    let route = outcome.routes[place]
    let lease = takeCapacity(on: route)
    let delivery = NewDelivery(
      database: database, number: number, logSequence: sequence, device: device, badge: badge,
      due: lease?.until ?? timestamp, updated: timestamp, route: route, holder: lease?.holder,
      mergeKey: kind.mergesDeliveries ? notification.mergeKey?.text : nil)
    transaction.writes.deliveries.add { delivery.appendArguments(to: &$0) }
    guard capacity == nil || lease != nil else {
      outcome.waiting[route, default: 0] += 1
      return
    }
    outcome.owed.append(
      DispatchOutcome.Owed(
        logged: outcome.logged.count - 1, device: place, number: number, badge: badge,
        due: lease?.until ?? timestamp))
  }

  /// Reduces the capacity of a route by one delivery.
  ///
  /// - Returns: the lease of the delivery; nil if the route has no capacity left, or if
  ///   ``capacity`` is nil.
  private mutating func takeCapacity(on route: DeliveryRoute.ID) -> DeliveryLease? {
    guard let left = capacity?.capacities[route] ?? capacity?.otherCapacity, left > 0 else {
      return nil
    }
    capacity?.capacities[route] = left - 1
    return capacity?.lease
  }

  /// Returns the devices to which a user's notifications of the container are pushed. The first
  /// call for a user and a database reads the devices from the store.
  ///
  /// Expired devices are left out, and so are readers of the web courier, which poll the server. A
  /// device without a channel on this server, that is, without a configured push service, is only
  /// counted.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` if a device has no number.
  private mutating func target(
    _ user: UserOfDatabase, at address: DatabaseAddress
  ) throws -> DispatchTarget {
    if let known = targets[user] { return known }
    let first = outcome.devices.count
    var target = DispatchTarget(user: user)
    try DeviceTable(transaction: transaction).visitTargets(
      of: user, at: address, now: timestamp
    ) { device, number in
      guard capacity?.isSetUp(device) ?? true else { return target.passOver(device) }
      guard let number else {
        throw StoreError(.corrupt, "the device token '\(device.token)' has no number")
      }
      outcome.devices.append(device)
      outcome.deviceNumbers.append(number)
    }
    target.devices = first..<outcome.devices.count
    let routes = PushRouteTable(transaction: transaction)
    outcome.routes += try outcome.devices[target.devices].map {
      try routes.number(of: DeliveryRoute(to: $0))
    }
    target.left = capacity?.backlogs.left(for: user) ?? .max
    return target
  }

  private func nextNumber(of database: DatabaseID) throws -> Int64 {
    try DatabaseTable(transaction: transaction).nextNumber(of: database)
  }
}
