import CloudKitModel
import SQLEngine
import StoreModel

/// The last step of dispatching changes: it writes the notifications of changes, in one
/// transaction.
///
/// For each *firing*, a subscription that a change fires, the completion writes an entry of the
/// notification log. It writes a delivery for each of the subscriber's devices, except the
/// *origin*: the device that made the change. It also raises badges, deletes the `firesOnce`
/// subscriptions of which a notification is owed to somebody, and stores the ``DispatchPosition``.
/// By the stored position it skips changes that are dispatched already, so nothing is written
/// twice.
///
/// The rows of the log, of its index and of the deliveries are collected, and inserted by
/// statements for many rows.
struct DispatchCompletion {
  let timestamp: Timestamp
  let transaction: StoreTransaction
  var outcome = DispatchOutcome()
  /// With nil, all deliveries are written and none is leased.
  var capacity: DeliveryCapacity?
  private var targets: [UserOfDatabase: DispatchTarget] = [:]
  /// The subscription version of this transaction's deletions of `firesOnce` subscriptions.
  private var versions: [DatabaseID: Int64] = [:]
  /// The subscriptions of each database that are gone since its changes were matched.
  private var gone: [DatabaseID: Set<SubscriptionName>] = [:]
  private var progress: [DatabasePart: DispatchProgress] = [:]
  private var deferredProgress: [UserOfDatabase: DeferredProgress] = [:]
  /// The number in place of the newest firing of each user that is not logged
  /// (`MatchedChange.isSkipped`).
  private var skipped: [UserOfDatabase: Int64] = [:]
  /// The users whose newest firing that is not logged has no number yet.
  private var unnumbered: Set<UserOfDatabase> = []
  /// The last changes that the transaction forwards to shared databases.
  private var forwarded: [ForwardKey: Int64] = [:]

  /// A shared database, and a private database whose changes are forwarded to it.
  private struct ForwardKey: Hashable {
    var database: DatabaseID
    var source: DatabaseID
  }

  /// - Parameter transaction: has the locks of ``WriteLocks/dispatch(of:)``.
  init(timestamp: Timestamp, capacity: DeliveryCapacity?, transaction: StoreTransaction) {
    self.timestamp = timestamp
    self.capacity = capacity
    self.transaction = transaction
  }

  /// Call the method once. After an error the transaction must be rolled back.
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
      // Another server that has read the position without a lock finds the number changed.
      if transaction.connection.isShared { _ = try nextNumber(of: part.database) }
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

  private mutating func complete(_ prepared: PreparedChange, at place: Int) throws {
    let matched = prepared.matched
    guard try settle(matched) else { return }
    let entry = matched.entry
    let address = try DatabaseTable(transaction: transaction).address(of: entry.database)
    outcome.addresses[entry.database] = address
    let deferred = progress[entry.part]?.deferred ?? []
    let isOpen = try matched.firings.isEmpty || isReadableByAll(entry.change, at: address)
    let gone = try matched.firings.isEmpty ? [] : gone(since: matched.matchedVersion, in: entry)
    var target: DispatchTarget?
    for (firing, notification) in prepared.notifications.elements.enumerated() {
      if !deferred.isEmpty, entry.deferral == nil, deferred.contains(notification.subscriber) {
        continue
      }
      if !gone.isEmpty, gone.contains(matched.firings[firing].name) { continue }
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

  /// A number that no entry has is the trace of trimmed entries. All firings up to the next logged
  /// one share a number, since each number costs the writer time.
  private mutating func numberSkipped(of user: UserOfDatabase) throws {
    guard unnumbered.remove(user) != nil else { return }
    skipped[user] = try nextNumber(of: user.database)
  }

  /// Returns false if the change is dispatched already.
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

  /// If the participant's part in the zone ended with it, the waiting pushes of the zone are not
  /// sent. Returns false if the change was forwarded before.
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

  /// True for a change without a record, such as the deletion of a zone.
  private func isReadableByAll(_ change: Change, at address: DatabaseAddress) throws -> Bool {
    guard let record = change.record else { return true }
    return try AccessPolicy.access(
      of: .anonymous, toType: record.recordType, at: address, in: transaction
    ).mayRead(record)
  }

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

  /// Returns whether the notification is owed to a device or a web courier reader other than the
  /// origin. A device that its push service has refused gets nothing, so it does not count. If
  /// nobody is owed the notification, the firing of a `firesOnce` subscription sends nothing, and
  /// the subscription stays.
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

  /// Also those that were saved anew.
  private mutating func gone(
    since version: Int64?, in entry: OutboxEntry
  ) throws -> Set<SubscriptionName> {
    let database = entry.database
    guard let version,
      try DatabaseTable(transaction: transaction).subscriptionVersion(lockedIn: database) > version
    else { return [] }
    if let known = gone[database] { return known }
    let found = try SubscriptionTable(transaction: transaction).gone(since: version, in: database)
    gone[database] = found
    return found
  }

  /// Returns false if it was deleted or replaced since it was matched. All deletions of this
  /// transaction in one database have the same subscription version.
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

  private func log(
    _ row: NotificationIndexRow, _ content: ArraySlice<UInt8>, _ unsent: UnsentDeliveries
  ) {
    transaction.writes.log.add { NotificationLogTable.append(row, content, unsent, to: &$0) }
  }

  /// With a ``NotificationTail``, entries wait in memory, and a later commit inserts many of them.
  /// Entries of a change with at least ``NotificationIndexTable/firingsFiledAtOnce`` firings are
  /// always inserted at once.
  private func file(_ row: NotificationIndexRow, amongMany: Bool) {
    guard transaction.tail == nil || amongMany else {
      return transaction.tailChange.added.append(row)
    }
    transaction.writes.logIndex.add {
      row.appendArguments(run: NotificationIndexTable.firstRun, to: &$0)
    }
  }

  /// Leaves out the origin. Leases the delivery to the caller if the route has capacity. `place` is
  /// the index in ``DispatchOutcome/devices``.
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

  private mutating func takeCapacity(on route: DeliveryRoute.ID) -> DeliveryLease? {
    guard let left = capacity?.capacities[route] ?? capacity?.otherCapacity, left > 0 else {
      return nil
    }
    capacity?.capacities[route] = left - 1
    return capacity?.lease
  }

  /// A device without a channel (a configured push service) on this server is only counted.
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
