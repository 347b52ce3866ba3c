import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore {
  @discardableResult
  public func updateDeliveries(_ updates: [DeliveryUpdate]) async throws -> Int {
    let counts = try await inEachDatabase(of: updates, settlesDeliveries: true) {
      session, updates in
      try updates.reduce(0) { try $0 + session.apply($1) }
    }
    // A device that stays because of an interruption is refused again, and dropped then.
    for update in updates {
      guard let moment = update.dropTokenRegisteredBefore else { continue }
      try await writeDevices {
        try $0.dropToken(
          of: update.id, registeredBefore: moment, at: update.timestamp, ordering: &$1)
      }
    }
    return counts.reduce(0, +)
  }

  public func takeDeliveries(
    on route: DeliveryRoute.ID, dueAt timestamp: Timestamp, limit: Int, lease: DeliveryLease,
    mergingHarder: Bool
  ) async throws -> TakenDeliveries {
    let claim = DeliveryClaim(
      route: route, timestamp: timestamp, lease: lease, mergesHarder: mergingHarder)
    let limit = max(0, limit)
    var claimed = DeliveryClaim.Result()
    if isDistributed {
      let due = try await read { try claim.due(atMost: limit, in: $0) }
      let results = try await inEachDatabase(of: due, settlesDeliveries: true) { session, ids in
        var claim = claim
        try claim.take(ids, in: session)
        return claim.result
      }
      for result in results { claimed.add(result) }
      claimed.isAll = due.count < limit
    } else {
      claimed = try await write(locking: .deliveries) { session in
        var claim = claim
        try claim.take(atMost: limit, in: session)
        return claim.result
      }
    }
    // The contents are read elsewhere: the one writer has better to do.
    let (deliveries, lost) = try await read { [claimed] in
      try $0.deliveries(claimed.taken, until: lease.until)
    }
    if !lost.isEmpty {
      try await updateDeliveries(
        lost.map {
          DeliveryUpdate(
            id: $0, state: .abandoned(reason: "its device token or its log entry is gone"),
            timestamp: timestamp)
        })
    }
    return TakenDeliveries(
      deliveries: deliveries, renewed: claimed.renewed, mergedCount: claimed.mergedCount,
      lostCount: lost.count, isAll: claimed.isAll)
  }

  public func reclaimDeliveries(at timestamp: Timestamp, exceptOf holder: Int64) async throws {
    var isDone = false
    while !isDone {
      let left = try await read {
        try $0.deliveriesOfGoneServers(at: timestamp, exceptOf: holder)
      }
      try await inEachDatabase(of: left, settlesDeliveries: true) {
        try $0.reclaim($1, at: timestamp, exceptOf: holder)
      }
      isDone = left.count < StoreSession.reclaimBatch
    }
  }
}

/// The final states of a delivery in the store; 0 is owed.
enum FinalDeliveryState {
  static let delivered: Int64 = 1
  static let abandoned: Int64 = 2
  static let merged: Int64 = 3
  static let refused: Int64 = 4
}

extension StoreSession {
  /// The number of a route, which is given when it is first asked for.
  func number(of route: DeliveryRoute) throws -> DeliveryRoute.ID {
    if let known = catalog.routes[route] { return known }
    let names: [SQLValue] = [
      .text(route.kind.rawValue), .text(route.container), .text(route.apnsEnvironment.rawValue),
    ]
    let found = try connection.first(
      """
      SELECT route FROM push_routes WHERE kind = $1 AND container = $2 AND apns_environment = $3
      """, names
    ) { DeliveryRoute.ID(rawValue: $0.integer(0)) }
    let number =
      try found ?? DeliveryRoute.ID(rawValue: CounterTable(session: self).next("push_route"))
    if found == nil {
      try connection.run(
        """
        INSERT INTO push_routes (kind, container, apns_environment, route) VALUES ($1, $2, $3, $4)
        """, names + [.integer(number.rawValue)])
    }
    catalog.routes[route] = number
    return number
  }

  fileprivate static let reclaimBatch = 1_000

  /// What servers had taken that are gone, up to a batch of it.
  fileprivate func deliveriesOfGoneServers(
    at timestamp: Timestamp, exceptOf holder: Int64
  ) throws -> [Delivery.ID] {
    // A lease ends in the future: what has waited longer comes before it in the index.
    try connection.rows(
      """
      SELECT deliveries.database_id, deliveries.number
      FROM push_routes JOIN deliveries ON deliveries.route = push_routes.route
      WHERE deliveries.state = 0 AND deliveries.due > $1 AND deliveries.leased_by <> $2
        AND NOT EXISTS (SELECT 1 FROM servers WHERE server_id = deliveries.leased_by)
      LIMIT $3
      """,
      [.integer(timestamp.milliseconds), .integer(holder), .integer(Int64(Self.reclaimBatch))],
      Delivery.ID.init(row:))
  }

  /// Makes available what others had taken.
  fileprivate func reclaim(
    _ ids: [Delivery.ID], at timestamp: Timestamp, exceptOf holder: Int64
  ) throws {
    for id in ids {
      try connection.run(
        """
        UPDATE deliveries SET due = $3, leased_by = NULL
        WHERE database_id = $1 AND number = $2 AND state = 0 AND due > $3 AND leased_by <> $4
        """,
        [
          .integer(id.database.rawValue), .integer(id.number), .integer(timestamp.milliseconds),
          .integer(holder),
        ])
    }
  }

  /// Writes one outcome, and answers how many other deliveries were merged into it.
  fileprivate func apply(_ update: DeliveryUpdate) throws -> Int {
    var mergedCount = 0
    let key: [SQLValue] = [
      .integer(update.id.database.rawValue), .integer(update.id.number),
    ]
    let now = SQLValue.integer(update.timestamp.milliseconds)
    switch update.state {
    case .delivered(let mergeKey):
      try finish(key, in: FinalDeliveryState.delivered, reason: nil, at: now)
      if let mergeKey { mergedCount = try merge(key, with: mergeKey, at: now) }
    case .abandoned(let reason):
      try finish(key, in: FinalDeliveryState.abandoned, reason: reason, at: now)
    case .merged(let newer):
      try finish(
        key, in: FinalDeliveryState.merged, reason: nil, at: now, attempts: 0, mergedInto: newer)
    case .refused(let reason, let payload):
      let isOwed = try finish(key, in: FinalDeliveryState.refused, reason: reason, at: now)
      guard isOwed else { break }
      try connection.run(
        """
        INSERT INTO refused_pushes (database_id, number, refused, payload) VALUES ($1, $2, $3, $4)
        """, key + [now, .bytes(payload)])
    case .retry(let due, let reason, let wasSent):
      try putOff(key, until: due, reason: reason, at: now, attempts: wasSent ? 1 : 0)
    case .postponed(let due, let reason):
      try putOff(key, until: due, reason: reason, at: now, attempts: 0)
    }
    return mergedCount
  }

  @discardableResult
  private func finish(
    _ key: [SQLValue], in state: Int64, reason: String?, at now: SQLValue, attempts: Int64 = 1,
    mergedInto newer: Int64? = nil
  ) throws -> Bool {
    try connection.run(
      """
      UPDATE deliveries SET state = $3, reason = $4, updated = $5, attempts = attempts + $6,
        merged_into = $7
      WHERE database_id = $1 AND number = $2 AND state = 0
      """,
      key + [.integer(state), SQLValue(reason), now, .integer(attempts), SQLValue(newer)]) == 1
  }

  private func putOff(
    _ key: [SQLValue], until due: Timestamp, reason: String, at now: SQLValue, attempts: Int64
  ) throws {
    try connection.run(
      """
      UPDATE deliveries SET due = $3, reason = $4, updated = $5, attempts = attempts + $6,
        leased_by = NULL
      WHERE database_id = $1 AND number = $2 AND state = 0
      """, key + [.integer(due.milliseconds), .text(reason), now, .integer(attempts)])
  }

  /// Merges into a delivery the older ones that nobody has taken, and answers how many.
  private func merge(
    _ key: [SQLValue], with mergeKey: DeliveryMergeKey, at now: SQLValue
  ) throws -> Int {
    try connection.run(
      """
      UPDATE deliveries SET state = $3, updated = $4, merged_into = $2
      WHERE database_id = $1 AND number < $2 AND state = 0 AND leased_by IS NULL
        AND merge_key = $5
        AND device = (SELECT device FROM deliveries WHERE database_id = $1 AND number = $2)
      """, key + [.integer(FinalDeliveryState.merged), now, .text(mergeKey.text)])
  }

  /// Drops the device of a delivery, unless it was registered again since.
  fileprivate func dropToken(
    of id: Delivery.ID, registeredBefore moment: Timestamp, at now: Timestamp,
    ordering orders: inout [DeliveryOrder]
  ) throws {
    let device = try connection.first(
      """
      SELECT device_numbers.token, push_routes.kind FROM deliveries
      JOIN push_routes ON push_routes.route = deliveries.route
      JOIN device_numbers ON device_numbers.device = deliveries.device
      WHERE database_id = $1 AND number = $2
      """, [.integer(id.database.rawValue), .integer(id.number)]
    ) { (token: $0.text(0), kind: $0.text(1)) }
    guard let device else { return }
    let dropped: [SQLValue] = [
      .text(device.kind), .text(device.token), .integer(moment.milliseconds),
    ]
    let condition = "kind = $1 AND token = $2 AND registered < $3"
    try rememberGoneDevices(
      where: condition, dropped, at: now, because: "the push service does not know the token")
    let user = try connection.first(
      "DELETE FROM device_tokens WHERE \(condition) RETURNING user_record_name", dropped
    ) { $0.text(0) }
    guard let user else { return }
    orders.append(
      DeliveryOrder(
        token: device.token, userRecordName: user,
        action: .abandon(reason: "the device token was dropped", at: now)))
  }
}

extension Delivery.ID {
  /// Reads the row's first columns: the database and the number.
  init(row: any SQLRow) {
    self.init(database: DatabaseID(rawValue: row.integer(0)), number: row.integer(1))
  }
}
