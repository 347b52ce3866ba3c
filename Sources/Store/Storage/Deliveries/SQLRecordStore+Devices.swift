import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore {
  /// Registers a token, or moves it to another user or device.
  ///
  /// A token that changes hands starts anew: its badge is 0, what was owed to it is abandoned, and
  /// a courier's reader sees what is logged from now on.
  public func saveDeviceToken(_ token: DeviceToken) async throws {
    try await writeDevices { try $0.save(token, ordering: &$1) }
  }

  public func deviceToken(
    _ token: String, kind: DeviceToken.Kind
  ) async throws -> DeviceToken? {
    guard !DeviceToken.isNameOfRow(token) else { return nil }
    return try await read { try $0.deviceToken(token, kind: kind)?.device }
  }

  public func courierRegistrations(ofToken token: String) async throws -> [DeviceToken] {
    try await read { try $0.courierRows(ofToken: token).map(\.device) }
  }

  public func deviceTokens(of userRecordName: String) async throws -> [DeviceToken] {
    try await read {
      try $0.connection.rows(
        "SELECT \(DeviceToken.columns) FROM device_tokens WHERE user_record_name = $1"
          + " ORDER BY registered, kind, token", [.text(userRecordName)], DeviceToken.init(row:))
    }
  }
}

extension DeviceToken {
  static let columns = """
    device_tokens.kind, device_tokens.token, device_tokens.container, \
    device_tokens.environment, device_tokens.apns_environment, device_tokens.user_record_name, \
    device_tokens.device_id, device_tokens.registered, device_tokens.expires, \
    device_tokens.endpoint_url, device_tokens.endpoint_secrets
    """
  static let columnCount: Int32 = 11

  /// Reads the row's first columns, which are ``columns``.
  init(row: any SQLRow) throws {
    guard let kind = Kind(rawValue: row.text(0)),
      let environment = ContainerEnvironment(rawValue: row.text(3)),
      let apnsEnvironment = APNsEnvironment(rawValue: row.text(4))
    else { throw StoreError(.corrupt, "the device token '\(row.text(1))' has unknown attributes") }
    self.init(
      kind: kind, token: row.text(1), container: row.text(2), environment: environment,
      apnsEnvironment: apnsEnvironment, userRecordName: row.text(5),
      deviceID: row.optionalText(6), registered: Timestamp(milliseconds: row.integer(7)),
      expires: row.optionalInteger(8).map { Timestamp(milliseconds: $0) },
      endpoint: row.optionalText(9).map { WebEndpoint(url: $0, secrets: row.bytes(10)) })
  }

  /// Whether the change was made by this device.
  func isOrigin(of change: Change) -> Bool {
    deviceID != nil && deviceID == change.deviceID && userRecordName == change.userRecordName
  }

  /// What is to become of what is owed to the device.
  func order(_ action: DeliveryOrder.Action) -> DeliveryOrder {
    DeliveryOrder(token: token, userRecordName: userRecordName, action: action)
  }

  /// Whether two rows of one token have the same reader.
  func hasSameReader(as other: DeviceToken) -> Bool {
    userRecordName == other.userRecordName && container == other.container
      && environment == other.environment
  }

  /// Whether a registration goes on with this one, for those who ask why a push did not come.
  fileprivate func isInSamePeriod(as next: DeviceToken) -> Bool {
    hasSameReader(as: next) && deviceID == next.deviceID && apnsEnvironment == next.apnsEnvironment
      && expires.map { $0 > next.registered } ?? true
  }
}

extension StoreSession {
  func deviceToken(
    _ token: String, kind: DeviceToken.Kind
  ) throws -> (device: DeviceToken, badge: Int)? {
    try connection.first(
      "SELECT \(DeviceToken.columns), badge FROM device_tokens WHERE kind = $1 AND token = $2",
      [.text(kind.rawValue), .text(token)]
    ) { (try DeviceToken(row: $0), Int($0.integer(DeviceToken.columnCount))) }
  }

  /// Waits for those who are about to log something for the device's reader, and keeps others from it:
  /// what is owed to a device that changes hands is to be found. They keep its row by ``keepingDevices``.
  private func lockDevice(_ token: String, kind: DeviceToken.Kind) throws {
    guard connection.isShared, !isDistributed else { return }
    _ = try connection.first(
      "SELECT 1 FROM device_tokens WHERE kind = $1 AND token = $2 FOR UPDATE",
      [.text(kind.rawValue), .text(token)]
    ) { _ in true }
  }

  /// What a selection of devices ends with, so that nobody gives them another reader until the transaction
  /// ends.
  ///
  /// Where nodes have copies of the table, Citus keeps all of it in place of some rows: two that then raise
  /// badges would wait for each other. There what is owed to a device that has changed hands is found by who
  /// takes it.
  var keepingDevices: String {
    connection.isShared && !isDistributed ? " FOR KEY SHARE" : ""
  }

  /// Adds one to a token's badge and returns it.
  func raiseBadge(of token: String, kind: DeviceToken.Kind) throws -> Int? {
    try connection.first(
      """
      UPDATE device_tokens SET badge = badge + 1 WHERE kind = $1 AND token = $2 RETURNING badge
      """, [.text(kind.rawValue), .text(token)]
    ) { Int($0.integer(0)) }
  }

  func save(_ token: DeviceToken, ordering orders: inout [DeliveryOrder]) throws {
    try refuseDeleted(token.userRecordName)
    try lockDevice(token.token, kind: token.kind)
    let known = try deviceToken(token.token, kind: token.kind)?.device
    let startsAnew = known.map { !$0.hasSameReader(as: token) } ?? true
    let beginsPeriod = known.map { !$0.isInSamePeriod(as: token) } ?? true
    if known != nil, beginsPeriod {
      try rememberGoneDevices(
        where: "kind = $1 AND token = $2", [.text(token.kind.rawValue), .text(token.token)],
        at: token.registered, because: "it was registered for another user, container or client ID")
    }
    if token.kind != .courier { try numberDevice(token.token) }
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
      if token.kind != .courier {
        orders.append(token.order(.move(to: try number(of: DeliveryRoute(to: token)))))
      }
      return
    }
    if known != nil {
      try connection.run(
        "UPDATE device_tokens SET badge = 0 WHERE kind = $1 AND token = $2",
        [.text(token.kind.rawValue), .text(token.token)])
    }
    switch token.kind {
    case .apns, .webPush, .webhook:
      guard let known else { return }
      orders.append(
        known.order(.abandon(reason: "the device token changed hands", at: token.registered)))
    case .courier:
      if let known { orders.append(known.order(.forgetReading)) }
      orders.append(token.order(.startReading(token.recipient)))
    }
  }
}
