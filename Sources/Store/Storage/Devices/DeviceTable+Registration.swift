import CloudKitModel
import SQLEngine
import StoreModel

// MARK: Registration

extension DeviceTable {
  /// See ``DeviceService/saveDeviceToken(_:)``. For the same user, the waiting deliveries move to
  /// the route of the new registration. `gone_devices` gets the former registration if it had
  /// expired, or if the user, client ID, bundle ID or APNs environment changes. Registrations of
  /// the token in other containers stay.
  ///
  /// - Parameter orders: gets changes of the device's waiting deliveries or cursors, for the
  ///   caller.
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted;
  ///   ``ItemFailure/Code/quotaExceeded`` if the container is new and one too many.
  func save(_ token: DeviceToken, ordering orders: inout [DeliveryOrder]) throws {
    try UserDeletionTable(transaction: transaction).refuseDeleted(token.userRecordName)
    try ContainerTable(transaction: transaction).enter(
      token.container,
      for: ContainerMaker(userRecordName: token.userRecordName, timestamp: token.registered))
    try lock(token.name)
    let known = try device(named: token.name)
    let startsAnew = known?.userRecordName != token.userRecordName
    let beginsPeriod = known.map { !$0.isInSamePeriod(as: token) } ?? true
    if known != nil, beginsPeriod {
      try rememberGone(
        sql.registration.named, token.name.arguments, at: token.registered,
        because: "it was registered for another user, client ID or bundle ID")
    }
    if token.kind.isPushed { try giveNumber(to: NumberedToken(token.name)) }
    try decide(
      sql.registration.save,
      [
        .text(token.kind.rawValue), .text(token.token), .text(token.container),
        .text(token.environment.rawValue), .text(token.apnsEnvironment.rawValue),
        .text(token.userRecordName), SQLValue(token.deviceID), .time(token.registered),
        SQLValue(token.expires?.milliseconds), SQLValue(token.endpoint?.url),
        token.endpoint.map { .bytes($0.secrets) } ?? .null,
        beginsPeriod ? .time(token.registered) : .null, token.signIn.map { .bytes($0) } ?? .null,
        SQLValue(token.bundleID),
      ])
    guard startsAnew else {
      if token.kind.isPushed {
        let route = try PushRouteTable(transaction: transaction).number(
          of: DeliveryRoute(to: token))
        orders.append(token.order(.move(to: route)))
      }
      return
    }
    if known != nil { try resetBadge(of: token.name) }
    if token.kind.isPushed {
      guard let known else { return }
      orders.append(
        known.order(
          .abandon(
            reason: "the device token was registered for another user or client ID",
            at: token.registered)))
    } else {
      if let known { orders.append(known.order(.forgetReading)) }
      orders.append(token.order(.startReading(token.recipient)))
    }
  }

  /// The reason for which a registration ends.
  struct End {
    /// The reason in `gone_devices`, a part of a sentence.
    let gone: String
    let deliveries: String

    static let unregistered = End(
      gone: "it was unregistered", deliveries: "the device was unregistered")
    static let signedOut = End(
      gone: "its user was signed out", deliveries: "the device's user was signed out")
    static let unknown = End(
      gone: "the push service does not know the token", deliveries: "the device token was dropped")
  }

  /// Each deleted device gets an order to abandon its waiting deliveries, each courier reader one
  /// to delete its cursors.
  @discardableResult
  private func remove(
    _ devices: EndingDevices, _ arguments: [SQLValue], at timestamp: Timestamp, because end: End,
    ordering orders: inout [DeliveryOrder]
  ) throws -> Int {
    try rememberGone(devices, arguments, at: timestamp, because: end.gone)
    let removed = try connection.rows(devices.delete, arguments) { row in
      let device = try DeviceToken(row: row)
      return device.order(
        device.kind.isPushed ? .abandon(reason: end.deliveries, at: timestamp) : .forgetReading)
    }
    orders += removed
    return removed.count
  }

  func remove(
    _ token: String, kind: DeviceToken.Kind, of recipient: Recipient, at timestamp: Timestamp,
    ordering orders: inout [DeliveryOrder]
  ) throws -> Bool {
    let name = DeviceName(
      kind: kind, token: token, container: recipient.container, environment: recipient.environment)
    return try remove(
      sql.registration.ofRecipient, name.arguments + [.text(recipient.userRecordName)],
      at: timestamp, because: .unregistered, ordering: &orders) > 0
  }

  func removeAll(
    ofDevice deviceID: String, signIn: [UInt8]?, of recipient: Recipient, at timestamp: Timestamp,
    ordering orders: inout [DeliveryOrder]
  ) throws {
    try remove(
      sql.registration.ofDevice,
      recipient.arguments + [.text(deviceID), signIn.map { .bytes($0) } ?? .null], at: timestamp,
      because: .unregistered, ordering: &orders)
  }

  func removeAll(
    of userRecordName: String, kinds: [DeviceToken.Kind], at timestamp: Timestamp,
    because end: End, ordering orders: inout [DeliveryOrder]
  ) throws {
    guard let last = kinds.last else { return }
    // The list of kinds is filled up with its last kind.
    let list = kinds + repeatElement(last, count: DeviceToken.Kind.allCases.count - kinds.count)
    try remove(
      sql.registration.ofKinds, [.text(userRecordName)] + list.map { .text($0.rawValue) },
      at: timestamp, because: end, ordering: &orders)
  }

  func removeSignedOut(
    of userRecordName: String, at timestamp: Timestamp, ordering orders: inout [DeliveryOrder]
  ) throws {
    try remove(
      sql.registration.signedOut, [.text(userRecordName)], at: timestamp, because: .signedOut,
      ordering: &orders)
  }

  /// For a token that its push service does not know.
  func drop(
    _ name: DeviceName, registeredBefore moment: Timestamp, at now: Timestamp,
    ordering orders: inout [DeliveryOrder]
  ) throws {
    try remove(
      sql.registration.registeredBefore, name.arguments + [.time(moment)], at: now,
      because: .unknown, ordering: &orders)
  }

  /// The time of an earlier refusal stays. `topic` is that for which APNs refused the token; nil
  /// for the other kinds.
  func noteRefusal(of name: DeviceName, topic: String?, at timestamp: Timestamp) throws {
    try decide(
      sql.registration.noteRefusal, name.arguments + [.time(timestamp), SQLValue(topic)])
  }

  func forgetRefusal(of name: DeviceName) throws {
    try decide(sql.registration.forgetRefusal, name.arguments)
  }

  /// The first part keeps the statement from computing the end of each registration.
  private static let hasEnded = """
    (expires <= $1 OR sign_in IN (
      SELECT COALESCE(session_id, hash) FROM web_auth_tokens WHERE web_auth_tokens.expires <= $1))
    AND \(ending) <= $1
    """

  /// Waiting deliveries to expired devices stay, until a claim abandons them.
  func dropExpired(at now: Int64, ordering orders: inout [DeliveryOrder]) throws {
    let readers = try connection.rows(
      sql.registration.dropReaders, [.integer(now)], DeviceToken.init(row:))
    orders += readers.map { $0.order(.forgetReading) }
    try rememberGone(
      sql.registration.ended, [.integer(now)], at: Timestamp(milliseconds: now),
      because: "it expired")
    try decide(sql.registration.drop, [.integer(now)])
  }

  struct RegistrationStatements {
    let named = EndingDevices(DeviceName.condition, arguments: 4)
    let ofRecipient = EndingDevices(
      DeviceName.condition + " AND user_record_name = $5", arguments: 5)
    let ofDevice = EndingDevices(
      """
      user_record_name = $1 AND container = $2 AND environment = $3 AND device_id = $4
        AND kind <> 'webhook' AND (sign_in IS NULL OR sign_in = $5)
      """, arguments: 5)
    let ofKinds = EndingDevices(
      "user_record_name = $1 AND kind IN ($2, $3, $4, $5)",
      arguments: 1 + DeviceToken.Kind.allCases.count)
    let signedOut = EndingDevices(
      """
      user_record_name = $1 AND sign_in IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM web_auth_tokens WHERE hash = device_tokens.sign_in)
        AND NOT EXISTS (SELECT 1 FROM web_auth_tokens WHERE session_id = device_tokens.sign_in)
      """, arguments: 1)
    let registeredBefore = EndingDevices(
      DeviceName.condition + " AND registered < $5", arguments: 5)
    let ended = EndingDevices(hasEnded, arguments: 1, .wholeTable)
    let forgetRefusal: Statement =
      "UPDATE device_tokens SET refused = NULL, refused_topic = NULL WHERE \(DeviceName.condition)"
    let save: Statement = """
      INSERT INTO device_tokens (kind, token, container, environment, apns_environment,
        user_record_name, device_id, first_registered, registered, expires, endpoint_url,
        endpoint_secrets, sign_in, bundle_id, badge)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11, $13, $14, 0)
      ON CONFLICT (kind, token, container, environment) DO UPDATE SET
        apns_environment = excluded.apns_environment,
        user_record_name = excluded.user_record_name, device_id = excluded.device_id,
        first_registered = COALESCE($12, device_tokens.first_registered),
        registered = excluded.registered, expires = excluded.expires,
        endpoint_url = excluded.endpoint_url, endpoint_secrets = excluded.endpoint_secrets,
        sign_in = excluded.sign_in, bundle_id = excluded.bundle_id, refused = NULL,
        refused_topic = NULL
      """
    let noteRefusal: Statement = """
      UPDATE device_tokens SET refused = COALESCE(refused, $5), refused_topic = $6
      WHERE \(DeviceName.condition)
      """
    let dropReaders = """
      DELETE FROM device_tokens WHERE kind = 'courier' AND \(DeviceTable.hasEnded)
      RETURNING \(DeviceToken.columns)
      """.except(.wholeTable)
    let drop = "DELETE FROM device_tokens WHERE \(DeviceTable.hasEnded)".except(.wholeTable)
  }
}

extension DeviceToken {
  fileprivate func order(_ action: DeliveryOrder.Action) -> DeliveryOrder {
    DeliveryOrder(device: name, userRecordName: userRecordName, action: action)
  }

  fileprivate func isInSamePeriod(as next: DeviceToken) -> Bool {
    userRecordName == next.userRecordName && deviceID == next.deviceID
      && apnsEnvironment == next.apnsEnvironment && bundleID == next.bundleID
      && expires.map { $0 > next.registered } ?? true
  }
}

extension DeviceTable {
  /// No record name contains the character.
  private static let separator = "\u{1F}"

  /// On a store that servers share, the writing thread calls this method at the beginning of a
  /// transaction with ``WriteLocks/badgeOwners``. All servers lock rows in the order of their keys,
  /// so that two transactions do not deadlock.
  static func lockBadges(of users: Set<String>, over connection: any SQLConnection) throws {
    _ = try connection.first(
      sql.locking.lockBadges, [.text(users.joined(separator: separator)), .text(separator)]
    ) { _ in true }
  }

  struct LockingStatements {
    let lockBadges = """
      SELECT COUNT(*) FROM (
        SELECT 1 FROM device_tokens WHERE user_record_name = ANY (string_to_array($1, $2))
        ORDER BY kind, token, container, environment FOR NO KEY UPDATE) AS devices
      """.except(.onPostgreSQL)
  }
}
