import CloudKitModel
import SQLEngine
import StoreModel

/// A writer of the effects of matched changes, in one transaction.
///
/// For each firing it writes a log entry and, for each device of the subscriber except the origin,
/// a delivery. The writer counts badges, deletes `firesOnce` subscriptions and stores the dispatch
/// position. Nothing is written twice: the writer skips changes and firings that are dispatched
/// already, by the stored dispatch position.
///
/// Rows of the log, its index and the deliveries are collected and inserted by statements for many
/// rows.
///
/// ```swift
/// var dispatch = DispatchCompletion(
///   timestamp: timestamp, capacity: capacity, transaction: transaction)
/// try dispatch.complete(changes)
/// return dispatch.outcome
/// ```
struct DispatchCompletion {
  let timestamp: Timestamp
  let transaction: StoreTransaction
  /// The effects written so far.
  fileprivate(set) var outcome = DispatchOutcome()
  /// The deliveries that may still be written, and those that may still be leased to the caller.
  /// Nil writes all deliveries and leases none.
  fileprivate(set) var capacity: DeliveryCapacity?
  /// The number supply of the last database written to, and those of the others.
  private var supply: NumberSupply?
  private var supplies: [DatabaseID: NumberSupply] = [:]
  /// The devices of each user, found at the user's first firing in the transaction.
  private var targets: [UserOfDatabase: DispatchTarget] = [:]
  /// The subscription version of the deletions of `firesOnce` subscriptions.
  private var versions: [DatabaseID: Int64] = [:]
  /// The rows of the notification log that are not inserted yet.
  private var entries = RowInsertion(NotificationLogTable.insertion)
  /// The rows of the log's index by subscriber that are not inserted yet.
  private var filings = RowInsertion(NotificationIndexTable.insertion)
  /// The rows of deliveries that are not inserted yet.
  private var deliveries = RowInsertion(DeliveryTable.insertion)
  /// The dispatch progress of each part. The progress of a part is created at the part's first
  /// change.
  private var progress: [DatabasePart: DispatchProgress] = [:]

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - timestamp: the time of the log entries and deliveries.
  ///   - capacity: the limits on deliveries; nil writes all and leases none.
  ///   - transaction: the writer's transaction, which has the locks of
  ///     ``WriteLocks/dispatch(of:)``.
  init(timestamp: Timestamp, capacity: DeliveryCapacity?, transaction: StoreTransaction) {
    self.timestamp = timestamp
    self.capacity = capacity
    self.transaction = transaction
  }

  /// Writes the effects of the changes, in their order, and then the positions of their parts. Call
  /// it once.
  ///
  /// - Throws: ``StoreError/Code/outOfOrder`` if a change of the database was left out.
  ///   ``StoreError/Code/leaseLost`` if another server dispatches a part. Nothing is dispatched
  ///   then, because the transaction is rolled back.
  mutating func complete(_ changes: [PreparedChange]) throws {
    let firings = changes.reduce(0) { $0 + $1.matched.firings.count }
    outcome.logged.reserveCapacity(firings)
    outcome.owed.reserveCapacity(firings)
    for (place, change) in changes.enumerated() { try complete(change, at: place) }
    try entries.finish(in: transaction.connection)
    try filings.finish(in: transaction.connection)
    try deliveries.finish(in: transaction.connection)
    for part in progress.keys.sorted(by: { $0.database < $1.database }) {
      try progress[part]?.write(at: timestamp, in: transaction)
    }
  }

  /// Writes the effects of one change.
  ///
  /// - Parameter place: the index of the change in the call.
  private mutating func complete(_ prepared: PreparedChange, at place: Int) throws {
    let matched = prepared.matched
    guard try settle(matched) else { return }
    let entry = matched.entry
    let address = try DatabaseTable(transaction: transaction).address(of: entry.database)
    outcome.addresses[entry.database] = address
    let isOpen = try matched.firings.isEmpty || isReadableByAll(entry.change, at: address)
    var target: DispatchTarget?
    for (firing, notification) in prepared.notifications.elements.enumerated() {
      // Checked before a subscription is deleted: a `firesOnce` subscription waits for a record
      // that its user may read.
      guard try isOpen || mayRead(matched.firings[firing], entry, at: address) else { continue }
      if notification.firesOnce {
        guard try consume(matched.firings[firing], in: entry.database) else { continue }
      }
      // Firings of one subscriber are mostly adjacent.
      if target?.user.userRecordName != notification.subscriber {
        if let target { targets[target.user] = target }
        target = try self.target(
          UserOfDatabase(userRecordName: notification.subscriber, database: entry.database),
          at: address)
      }
      let unsent = try target?.take(of: entry.change, for: &self) ?? []
      let content = prepared.notifications.content(at: firing)
      let row = NotificationIndexRow(
        of: entry.change, for: notification.subscriber, in: entry.database,
        sequence: try nextNumber(of: entry.database), logged: timestamp, bytes: content.count)
      try log(row, content, unsent)
      try file(row, amongMany: matched.firings.count >= NotificationIndexTable.firingsFiledAtOnce)
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

  /// Advances the dispatch progress of the change's part; see ``DispatchProgress/settle(_:)``.
  ///
  /// - Returns: false if the change is dispatched already. The caller then skips the change.
  private mutating func settle(_ matched: MatchedChange) throws -> Bool {
    let part = matched.entry.part
    var progress = try self.progress[part] ?? DispatchProgress(of: part, in: transaction)
    defer { self.progress[part] = progress }
    return try progress.settle(matched)
  }

  /// Whether every user may read the changed record, so that subscribers need no check.
  ///
  /// True for a change without a record, such as the deletion of a zone.
  private func isReadableByAll(_ change: Change, at address: DatabaseAddress) throws -> Bool {
    guard let record = change.record else { return true }
    return try AccessPolicy.access(
      of: .anonymous, toType: record.recordType, at: address, in: transaction
    ).mayRead(record)
  }

  /// Checks whether the subscriber may read the changed record now. If not, the method adds a
  /// ``WithheldNotification`` to ``outcome``.
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

  /// Deletes a `firesOnce` subscription that fires.
  ///
  /// - Returns: false if the subscription is gone or was replaced. The firing is then skipped.
  ///
  /// All deletions of a transaction in one database have the same subscription version.
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
  private mutating func log(
    _ row: NotificationIndexRow, _ content: ArraySlice<UInt8>, _ unsent: UnsentDeliveries
  ) throws {
    try entries.add(in: transaction.connection) {
      NotificationLogTable.append(row, content, unsent, to: &$0)
    }
  }

  /// Adds an entry to the log's index by subscriber, at once or with later entries.
  ///
  /// On a server with a ``NotificationTail``, entries wait in memory and are filed together.
  /// Entries of a change with many firings are always filed at once.
  private mutating func file(_ row: NotificationIndexRow, amongMany: Bool) throws {
    guard transaction.tail == nil || amongMany else {
      return transaction.tailChange.added.append(row)
    }
    try filings.add(in: transaction.connection) {
      row.appendArguments(run: NotificationIndexTable.firstRun, to: &$0)
    }
  }

  /// Adds the delivery of the last log entry to a device, unless the device made the change.
  ///
  /// The delivery is leased to the caller if there is capacity on its route. Otherwise it waits in
  /// the store.
  ///
  /// - Parameters:
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
        .raiseBadge(of: outcome.devices[place].token, kind: kind) : nil
    let number = try nextNumber(of: database)
    let route = outcome.routes[place]
    let lease = takeCapacity(on: route)
    let delivery = NewDelivery(
      database: database, number: number, logSequence: sequence, device: device, badge: badge,
      due: lease?.until ?? timestamp, updated: timestamp, route: route, holder: lease?.holder,
      mergeKey: kind.mergesDeliveries ? notification.mergeKey?.text : nil)
    try deliveries.add(in: transaction.connection) { delivery.appendArguments(to: &$0) }
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
  /// - Returns: the lease of the delivery; nil if no capacity is left, or if the caller leases no
  ///   deliveries.
  private mutating func takeCapacity(on route: DeliveryRoute.ID) -> DeliveryLease? {
    guard let left = capacity?.capacities[route] ?? capacity?.otherCapacity, left > 0 else {
      return nil
    }
    capacity?.capacities[route] = left - 1
    return capacity?.lease
  }

  /// Returns the devices of a user. The first call for the user in a database reads them.
  ///
  /// They are the unexpired devices to which the subscriber's notifications of the container are
  /// pushed. Readers of the web courier have no device: they poll the server. A device without a
  /// channel on this server is only counted.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` if a device has no number.
  private mutating func target(
    _ user: UserOfDatabase, at address: DatabaseAddress
  ) throws -> DispatchTarget {
    if let known = targets[user] { return known }
    let first = outcome.devices.count
    var target = DispatchTarget(user: user)
    try DeviceTable(transaction: transaction).visitTargets(
      of: user.userRecordName, at: address, now: timestamp
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

  /// Returns the next number of the database's sequence, and marks it as used.
  private mutating func nextNumber(of database: DatabaseID) throws -> Int64 {
    var supply = try supply(of: database)
    defer { self.supply = supply }
    return try supply.take(from: transaction)
  }

  /// The number supply of a database. A new one draws 16 numbers at once.
  private mutating func supply(of database: DatabaseID) throws -> NumberSupply {
    if let supply, supply.database == database { return supply }
    if let supply { supplies[supply.database] = supply }
    return try supplies[database] ?? NumberSupply(of: database, count: 16, from: transaction)
  }
}

/// The devices to which a user's notifications in one database are pushed, and the deliveries that
/// may still wait for them.
private struct DispatchTarget {
  /// The user, and the database of the notifications.
  let user: UserOfDatabase
  /// Their range in ``DispatchOutcome/devices``.
  var devices = 0..<0
  /// The number of deliveries that may still be written within the user's limit.
  var left = Int.max
  /// Whether ``left`` is exact; otherwise it is a lower bound.
  private var isCounted = false
  /// The number of devices without a channel, and the reasons.
  private var passedOver = 0
  /// The reasons of the devices without a channel.
  private var noWays: UnsentDeliveries = []

  init(user: UserOfDatabase) {
    self.user = user
  }

  /// Counts a device without a channel.
  mutating func passOver(_ device: DeviceToken) {
    passedOver += 1
    noWays.insert(UnsentDeliveries(noWayTo: device.kind, device.apnsEnvironment))
  }

  /// Reserves deliveries of a change to all devices except the origin. If they exceed a limit, the
  /// method reserves none.
  ///
  /// For most users the estimate in ``UserBacklogs`` suffices. If it says that the limit is
  /// reached, the method counts the user's waiting deliveries once in the transaction.
  ///
  /// - Returns: the reasons for which some devices get no delivery.
  mutating func take(
    of change: Change, for dispatch: inout DispatchCompletion
  ) throws -> UnsentDeliveries {
    dispatch.outcome.unsent.notSetUp += passedOver
    guard let capacity = dispatch.capacity else { return noWays }
    let wanted = dispatch.outcome.devices[devices].count(where: { !$0.isOrigin(of: change) })
    guard wanted > 0 else { return noWays }
    guard wanted <= capacity.unwritten else {
      dispatch.outcome.unsent.serverLimit += wanted
      return noWays.union(.serverLimit)
    }
    if wanted > left, !isCounted {
      let waiting = try DeliveryTable(transaction: dispatch.transaction).owedCount(
        to: dispatch.outcome.deviceNumbers[devices], in: user.database,
        atMost: capacity.backlogs.limit)
      capacity.backlogs.set(waiting, for: user)
      left = capacity.backlogs.limit - waiting
      isCounted = true
    }
    guard wanted <= left else {
      dispatch.outcome.unsent.userLimit += wanted
      return noWays.union(.userLimit)
    }
    left -= wanted
    dispatch.capacity?.unwritten -= wanted
    capacity.backlogs.add(wanted, for: user)
    return noWays
  }
}
