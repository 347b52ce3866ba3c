import CloudKitModel
import SQLEngine
import StoreModel

// MARK: Registration

extension DeviceTable {
  /// Registers a device, or changes its registration.
  ///
  /// - Same user, container and environment: the badge stays, and the waiting deliveries move to
  ///   the route of the new registration.
  /// - Another user, container or environment: the badge becomes 0, and the waiting deliveries of
  ///   the former user are abandoned. A courier reader gets only entries that are logged from now
  ///   on.
  ///
  /// The method records the former registration in `gone_devices` if that registration had expired,
  /// or if the user, container, environment, client ID or APNs environment changes.
  ///
  /// - Parameter orders: the method appends the changes of the device's waiting deliveries or
  ///   cursors, which the caller carries out.
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted;
  ///   ``ItemFailure/Code/quotaExceeded`` if the container is new and one too many.
  func save(_ token: DeviceToken, ordering orders: inout [DeliveryOrder]) throws {
    try UserDeletionTable(transaction: transaction).refuseDeleted(token.userRecordName)
    try ContainerTable(transaction: transaction).enter(
      token.container,
      for: ContainerMaker(userRecordName: token.userRecordName, timestamp: token.registered))
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

  /// Deletes a device of a recipient, and records it as a former device.
  ///
  /// The caller abandons the device's waiting deliveries (``DeliveryOrder``).
  ///
  /// - Returns: false if the recipient has no device with this token.
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

  /// Deletes all of a user's devices of a kind, and records them as former devices.
  ///
  /// - Parameter orders: for each deleted device, the method appends an order to abandon the
  ///   device's waiting deliveries.
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

  /// Deletes a user's web courier readers.
  ///
  /// - Parameter orders: for each deleted reader, the method appends an order to delete the
  ///   reader's cursors.
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

  /// Deletes a device whose token its push service does not know, and records it as a former
  /// device.
  ///
  /// - Parameters:
  ///   - kind: the raw value of the device's `DeviceToken.Kind`.
  ///   - moment: a device whose last registration is at this time or later is not deleted.
  ///   - now: the time of the deletion.
  /// - Returns: the user record name of the deleted device; nil if no device was deleted.
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

  /// Deletes devices and courier readers whose registration has expired. The devices are recorded
  /// as former devices.
  ///
  /// Waiting deliveries to expired devices stay, until a claim finds that the device is gone and
  /// abandons them.
  ///
  /// - Parameters:
  ///   - now: the present time, in milliseconds since 1970.
  ///   - orders: for each deleted reader, the method appends an order to delete the reader's
  ///     cursors.
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
  /// Returns an order for the device's waiting deliveries, or for the reader's cursors.
  fileprivate func order(_ action: DeliveryOrder.Action) -> DeliveryOrder {
    DeliveryOrder(token: token, userRecordName: userRecordName, action: action)
  }

  /// Returns whether `next` continues this registration: the user, container, environment, client
  /// ID and APNs environment are the same, and this registration had not expired.
  fileprivate func isInSamePeriod(as next: DeviceToken) -> Bool {
    hasSameReader(as: next) && deviceID == next.deviceID && apnsEnvironment == next.apnsEnvironment
      && expires.map { $0 > next.registered } ?? true
  }
}
