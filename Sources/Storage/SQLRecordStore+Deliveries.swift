import CloudKitModel

extension SQLRecordStore {
  @discardableResult
  public func updateDeliveries(_ updates: [DeliveryUpdate]) async throws -> Int {
    try await write(locking: .outcomes(updates)) { session in
      try updates.reduce(0) { try $0 + session.apply($1) }
    }
  }

  public func takeDeliveries(
    on route: DeliveryRoute.ID, dueAt timestamp: Timestamp, limit: Int, lease: DeliveryLease,
    mergingHarder: Bool
  ) async throws -> TakenDeliveries {
    let claim = try await write(locking: .deliveries) { session in
      var claim = DeliveryClaim(
        route: route, timestamp: timestamp, lease: lease, mergesHarder: mergingHarder,
        session: session)
      try claim.take(atMost: max(0, limit))
      return claim.result
    }
    // The contents are read elsewhere: the one writer has better to do.
    let (deliveries, lost) = try await read { try $0.deliveries(claim.taken, until: lease.until) }
    if !lost.isEmpty {
      try await updateDeliveries(
        lost.map {
          DeliveryUpdate(
            id: $0, state: .abandoned(reason: "its device token or its log entry is gone"),
            timestamp: timestamp)
        })
    }
    return TakenDeliveries(
      deliveries: deliveries, mergedCount: claim.mergedCount, lostCount: lost.count,
      isAll: claim.isAll)
  }

  public func reclaimDeliveries(at timestamp: Timestamp, exceptOf holder: Int64) async throws {
    var isDone = false
    while !isDone {
      isDone = try await write(locking: .deliveries) {
        try $0.reclaimDeliveries(at: timestamp, exceptOf: holder) < StoreSession.reclaimBatch
      }
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
  /// Abandons what is owed to a token, wherever it comes from.
  func abandonDeliveries(
    toToken token: String, because reason: String, at timestamp: Timestamp
  ) throws {
    try connection.run(
      """
      UPDATE deliveries SET state = $2, reason = $3, updated = $4 WHERE token = $1 AND state = 0
      """,
      [
        .text(token), .integer(FinalDeliveryState.abandoned), .text(reason),
        .integer(timestamp.milliseconds),
      ])
  }

  /// What is owed to a token goes another way from now on.
  func moveDeliveries(toToken token: String, to route: DeliveryRoute.ID) throws {
    try connection.run(
      "UPDATE deliveries SET route = $2 WHERE token = $1 AND state = 0 AND route <> $2",
      [.text(token), .integer(route.rawValue)])
  }

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
    let number = try found ?? DeliveryRoute.ID(rawValue: nextCounter("push_route"))
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

  /// Makes available what others had taken, up to a batch of it. Answers how many there were.
  fileprivate func reclaimDeliveries(at timestamp: Timestamp, exceptOf holder: Int64) throws -> Int
  {
    // A lease ends in the future: what has waited longer comes before it in the index.
    try connection.run(
      """
      UPDATE deliveries SET due = $1, leased_by = NULL
      WHERE state = 0 AND due > $1 AND leased_by <> $2 AND (database_id, number) IN (
        SELECT deliveries.database_id, deliveries.number
        FROM push_routes JOIN deliveries ON deliveries.route = push_routes.route
        WHERE deliveries.state = 0 AND deliveries.due > $1 AND deliveries.leased_by <> $2
          AND NOT EXISTS (SELECT 1 FROM servers WHERE server_id = deliveries.leased_by)
        LIMIT $3)
      """,
      [
        .integer(timestamp.milliseconds), .integer(holder), .integer(Int64(Self.reclaimBatch)),
      ])
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
    if let before = update.dropTokenRegisteredBefore {
      try dropToken(of: key, registeredBefore: before, at: update.timestamp)
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
        AND token = (SELECT token FROM deliveries WHERE database_id = $1 AND number = $2)
      """, key + [.integer(FinalDeliveryState.merged), now, .text(mergeKey.text)])
  }

  private func dropToken(
    of key: [SQLValue], registeredBefore moment: Timestamp, at now: Timestamp
  ) throws {
    let device = try connection.first(
      """
      SELECT deliveries.token, push_routes.kind FROM deliveries
      JOIN push_routes ON push_routes.route = deliveries.route
      WHERE database_id = $1 AND number = $2
      """, key
    ) { (token: $0.text(0), kind: $0.text(1)) }
    guard let device else { return }
    let dropped: [SQLValue] = [
      .text(device.kind), .text(device.token), .integer(moment.milliseconds),
    ]
    let condition = "kind = $1 AND token = $2 AND registered < $3"
    try rememberGoneDevices(
      where: condition, dropped, at: now, because: "the push service does not know the token")
    guard
      try connection.run("DELETE FROM device_tokens WHERE " + condition, dropped) == 1
    else { return }
    try abandonDeliveries(
      toToken: device.token, because: "the device token was dropped", at: now)
  }
}
