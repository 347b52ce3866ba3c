import CloudKitModel
import SQLEngine
import StoreModel

// MARK: Registration

extension DeviceTable {
  /// Registers a device, or moves it to another user.
  ///
  /// A registration by the same user renews the device: its badge stays, and its waiting deliveries
  /// follow it to its route. A registration by another user, or for another container, begins anew:
  /// the badge is 0, and waiting deliveries of the former user are abandoned. A courier reader gets
  /// entries that are logged from now on.
  ///
  /// A period for explanations ends also when the device's client ID or APNs environment changes,
  /// or after the registration had expired.
  ///
  /// - Parameter orders: gets the changes to the device's waiting deliveries.
  /// - Throws: ``StoreError/Code/userDeleted``.
  func save(_ token: DeviceToken, ordering orders: inout [DeliveryOrder]) throws {
    try UserDeletionTable(transaction: transaction).refuseDeleted(token.userRecordName)
    try lock(token.token, kind: token.kind)
    let known = try device(withToken: token.token, kind: token.kind)?.device
    let startsAnew = known.map { !$0.hasSameReader(as: token) } ?? true
    let beginsPeriod = known.map { !$0.isInSamePeriod(as: token) } ?? true
    if known != nil, beginsPeriod {
      try rememberGone(
        where: "kind = $1 AND token = $2", [.text(token.kind.rawValue), .text(token.token)],
        at: token.registered, because: "it was registered for another user, container or client ID")
    }
    if token.kind.isPushed { try giveNumber(to: token.token) }
    try connection.run(
      """
      INSERT INTO device_tokens (kind, token, container, environment, apns_environment,
        user_record_name, device_id, first_registered, registered, expires, endpoint_url,
        endpoint_secrets, badge)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11, 0)
      ON CONFLICT (kind, token) DO UPDATE SET container = excluded.container,
        environment = excluded.environment, apns_environment = excluded.apns_environment,
        user_record_name = excluded.user_record_name, device_id = excluded.device_id,
        first_registered = COALESCE($12, device_tokens.first_registered),
        registered = excluded.registered, expires = excluded.expires,
        endpoint_url = excluded.endpoint_url, endpoint_secrets = excluded.endpoint_secrets
      """,
      [
        .text(token.kind.rawValue), .text(token.token), .text(token.container),
        .text(token.environment.rawValue), .text(token.apnsEnvironment.rawValue),
        .text(token.userRecordName), SQLValue(token.deviceID),
        .integer(token.registered.milliseconds), SQLValue(token.expires?.milliseconds),
        SQLValue(token.endpoint?.url), token.endpoint.map { .bytes($0.secrets) } ?? .null,
        beginsPeriod ? .integer(token.registered.milliseconds) : .null,
      ])
    guard startsAnew else {
      if token.kind.isPushed {
        let route = try PushRouteTable(transaction: transaction).number(
          of: DeliveryRoute(to: token))
        orders.append(token.order(.move(to: route)))
      }
      return
    }
    if known != nil { try resetBadge(of: token.token, kind: token.kind) }
    if token.kind.isPushed {
      guard let known else { return }
      orders.append(
        known.order(
          .abandon(
            reason: "the device token was registered for another user, container or client ID",
            at: token.registered)))
    } else {
      if let known { orders.append(known.order(.forgetReading)) }
      orders.append(token.order(.startReading(token.recipient)))
    }
  }

  /// Removes a device of a recipient; false if the recipient has none with this token.
  ///
  /// The caller abandons the device's waiting deliveries (``DeliveryOrder``).
  func remove(
    _ token: String, kind: DeviceToken.Kind, of recipient: Recipient, at timestamp: Timestamp
  ) throws -> Bool {
    let removed: [SQLValue] = [
      .text(kind.rawValue), .text(token), .text(recipient.userRecordName),
      .text(recipient.container), .text(recipient.environment.rawValue),
    ]
    let condition = """
      kind = $1 AND token = $2 AND user_record_name = $3 AND container = $4 AND environment = $5
      """
    try rememberGone(where: condition, removed, at: timestamp, because: "it was unregistered")
    return try connection.run("DELETE FROM device_tokens WHERE " + condition, removed) > 0
  }

  /// Removes all of a user's devices of a kind, and abandons their deliveries.
  ///
  /// - Parameter orders: gets an order to abandon for each removed device.
  func removeAll(
    of userRecordName: String, kind: DeviceToken.Kind, at timestamp: Timestamp,
    ordering orders: inout [DeliveryOrder]
  ) throws {
    let removed: [SQLValue] = [.text(userRecordName), .text(kind.rawValue)]
    let condition = "user_record_name = $1 AND kind = $2"
    try rememberGone(where: condition, removed, at: timestamp, because: "it was unregistered")
    let tokens = try connection.rows(
      "DELETE FROM device_tokens WHERE \(condition) RETURNING token", removed
    ) { $0.text(0) }
    orders += tokens.map {
      DeliveryOrder(
        token: $0, userRecordName: userRecordName,
        action: .abandon(reason: "the device was unregistered", at: timestamp))
    }
  }

  /// Removes a user's web courier readers and their cursors.
  ///
  /// - Parameter orders: gets an order to forget the cursors of each reader.
  func removeReaders(of userRecordName: String, ordering orders: inout [DeliveryOrder]) throws {
    let readers = try connection.rows(
      """
      DELETE FROM device_tokens WHERE kind = 'courier' AND user_record_name = $1 RETURNING token
      """, [.text(userRecordName)]
    ) { $0.text(0) }
    orders += readers.map {
      DeliveryOrder(token: $0, userRecordName: userRecordName, action: .forgetReading)
    }
  }

  /// Deletes a device that its push service does not know, unless it was registered again since.
  ///
  /// - Parameters:
  ///   - moment: a device that was registered at this time or later stays.
  ///   - now: the time at which the device is gone.
  /// - Returns: the device's user; nil if the device stays.
  func drop(
    _ token: String, kind: String, registeredBefore moment: Timestamp, at now: Timestamp
  ) throws -> String? {
    let dropped: [SQLValue] = [.text(kind), .text(token), .integer(moment.milliseconds)]
    let condition = "kind = $1 AND token = $2 AND registered < $3"
    try rememberGone(
      where: condition, dropped, at: now, because: "the push service does not know the token")
    return try connection.first(
      "DELETE FROM device_tokens WHERE \(condition) RETURNING user_record_name", dropped
    ) { $0.text(0) }
  }

  /// Deletes devices whose registration has expired, and the cursors of expired readers.
  ///
  /// Waiting deliveries to expired devices stay. Their claim finds no device, and abandons them.
  ///
  /// - Parameter now: milliseconds since 1970.
  func dropExpired(at now: Int64, ordering orders: inout [DeliveryOrder]) throws {
    let readers = try connection.rows(
      """
      DELETE FROM device_tokens WHERE kind = 'courier' AND expires <= $1
      RETURNING token, user_record_name
      """, [.integer(now)]
    ) { (token: $0.text(0), user: $0.text(1)) }
    orders += readers.map {
      DeliveryOrder(token: $0.token, userRecordName: $0.user, action: .forgetReading)
    }
    try rememberGone(
      where: "expires <= $1", [.integer(now)], at: Timestamp(milliseconds: now),
      because: "it expired")
    try connection.run("DELETE FROM device_tokens WHERE expires <= $1", [.integer(now)])
  }
}

extension DeviceToken {
  /// An order for the device's waiting deliveries.
  fileprivate func order(_ action: DeliveryOrder.Action) -> DeliveryOrder {
    DeliveryOrder(token: token, userRecordName: userRecordName, action: action)
  }

  /// Whether `next` continues this registration, for explanations of missing pushes.
  fileprivate func isInSamePeriod(as next: DeviceToken) -> Bool {
    hasSameReader(as: next) && deviceID == next.deviceID && apnsEnvironment == next.apnsEnvironment
      && expires.map { $0 > next.registered } ?? true
  }
}
