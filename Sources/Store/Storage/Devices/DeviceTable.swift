import CloudKitModel
import SQLEngine
import StoreModel

/// The registered devices of users by their tokens, and the former devices, which help to explain
/// why a push was not sent.
///
/// A delivery refers to its device by a number, because a token is long and would be in each row
/// and in an index. A token has a number for each container and environment. The number stays when
/// another user registers the token there, and while deliveries and rows of `gone_devices` may
/// refer to it. A number is never reused.
///
/// `registered` is the time of the last registration. `first_registered` is the start of the
/// present period: since then, the registration has had the same user, container, environments,
/// bundle ID and client ID, without expiring. The index by user includes `kind` and `token`, so
/// that an engine does not scan all devices to avoid sorting.
///
/// Readers of the web courier have the kind `courier`. They have no number, because nothing is
/// delivered to them: they poll the server.
struct DeviceTable: Table {
  let transaction: StoreTransaction

  /// A row of `device_tokens` is a present registration. Its key is a ``DeviceName``, so in a
  /// container a token belongs to one user at a time. `expires` is null for APNs tokens.
  /// `endpoint_url` and `endpoint_secrets` are null except for browsers and webhooks. `sign_in`
  /// names the sign-in that registered the device (``WebAuthToken/signIn``), or is null.
  /// `bundle_id` is null if the registration names no app. `refused` is null unless the push
  /// service refused the device since the last registration (``DeviceToken/Refusal``).
  ///
  /// A row of `gone_devices` is a former period, from `first_registered` to `gone`.
  static let definition = [
    """
    CREATE TABLE device_tokens (
      kind TEXT NOT NULL, token TEXT NOT NULL, container TEXT NOT NULL,
      environment TEXT NOT NULL, apns_environment TEXT NOT NULL, user_record_name TEXT NOT NULL,
      device_id TEXT, first_registered BIGINT NOT NULL, registered BIGINT NOT NULL,
      expires BIGINT, badge BIGINT NOT NULL,
      endpoint_url TEXT, endpoint_secrets BYTEA, sign_in BYTEA, bundle_id TEXT,
      refused BIGINT, refused_topic TEXT,
      PRIMARY KEY (kind, token, container, environment))
    """,
    """
    CREATE INDEX device_tokens_by_user
      ON device_tokens (user_record_name, kind, token, container, environment)
    """,
    """
    CREATE TABLE device_numbers (
      device BIGINT PRIMARY KEY, token TEXT NOT NULL, container TEXT NOT NULL,
      environment TEXT NOT NULL, UNIQUE (token, container, environment)) /*clustered*/
    """,
    """
    CREATE TABLE gone_devices (
      user_record_name TEXT NOT NULL, kind TEXT NOT NULL, token TEXT NOT NULL,
      container TEXT NOT NULL, environment TEXT NOT NULL, apns_environment TEXT NOT NULL,
      bundle_id TEXT, device_id TEXT, first_registered BIGINT NOT NULL, gone BIGINT NOT NULL,
      reason TEXT NOT NULL,
      PRIMARY KEY (user_record_name, kind, token, container, environment, first_registered))
    """,
    "CREATE INDEX gone_devices_by_time ON gone_devices (gone)",
    "CREATE INDEX gone_devices_by_token ON gone_devices (token)",
  ]

  // MARK: The end of a registration

  /// The earlier of the expiry of a registration and that of the last token of its sign-in, in SQL;
  /// null if neither expires. Maintenance deletes the rows of ended registrations later.
  static let ending = """
    (SELECT MIN(ending) FROM (
      SELECT device_tokens.expires AS ending
      UNION ALL
      SELECT MAX(expires) FROM web_auth_tokens WHERE hash = device_tokens.sign_in
      UNION ALL
      SELECT MAX(expires) FROM web_auth_tokens WHERE session_id = device_tokens.sign_in) AS endings)
    """

  /// `now` is an SQL parameter such as `$4`.
  static func isValid(at now: String) -> String { "COALESCE(\(ending) > \(now), TRUE)" }

  // MARK: Reading

  func device(named name: DeviceName) throws -> DeviceToken? {
    try connection.first(sql.device, name.arguments, DeviceToken.init(row:))
  }

  /// - Parameter keepingThem: whether to lock the rows (``keepingRows``).
  func registrations(
    ofToken token: String, kind: DeviceToken.Kind, keepingThem: Bool = false
  ) throws -> [(device: DeviceToken, badge: Int)] {
    try connection.rows(
      sql.registrations(locking: keepingThem && keepsRows), [.text(kind.rawValue), .text(token)]
    ) { (device: try DeviceToken(row: $0), badge: $0.count(DeviceToken.columnCount)) }
  }

  func devices(of userRecordName: String) throws -> [DeviceToken] {
    try connection.rows(sql.ofUser, [.text(userRecordName)], DeviceToken.init(row:))
  }

  /// In the order of kinds, tokens and containers; nil lists those of all users.
  func devices(
    of userRecordName: String?, after last: DeviceName?, limit: Int
  ) throws -> [DeviceToken] {
    var arguments: [SQLValue] =
      (last?.arguments ?? [.text(""), .text(""), .text(""), .text("")]) + [.count(limit)]
    if let userRecordName { arguments.append(.text(userRecordName)) }
    return try connection.rows(
      userRecordName == nil ? sql.page : sql.pageOfUser, arguments, DeviceToken.init(row:))
  }

  /// Counts only the other devices of the same kind. Registrations that had ended do not count.
  func othersCount(besides device: DeviceToken) throws -> Int {
    try connection.count(
      sql.othersCount,
      [
        .text(device.userRecordName), .text(device.kind.rawValue), .text(device.token),
        .text(device.container), .text(device.environment.rawValue), .time(device.registered),
      ])
  }

  /// Readers of the web courier are left out. Except on a distributed store, no other transaction
  /// can register these devices for another user until this transaction ends (``keepingRows``).
  ///
  /// - Parameter visit: gets the token's number, which is nil only if the store is damaged.
  func visitTargets(
    of user: UserOfDatabase, at address: DatabaseAddress, now: Timestamp,
    _ visit: (DeviceToken, _ number: Int64?) throws -> Void
  ) throws {
    if let known = transaction.reads.targets[user] {
      for (device, number) in known { try visit(device, number) }
      return
    }
    try connection.query(
      sql.targets(locking: keepsRows),
      [
        .text(user.userRecordName), .text(address.container), .text(address.environment.rawValue),
        .time(now),
      ]
    ) { try visit(try DeviceToken(row: $0), $0.optionalInteger(DeviceToken.columnCount)) }
  }

  private static let targetColumns = """
    \(DeviceToken.columns), (
      SELECT device FROM device_numbers
      WHERE device_numbers.token = device_tokens.token
        AND device_numbers.container = device_tokens.container
        AND device_numbers.environment = device_tokens.environment)
    """

  /// Counts at most `limit` devices whose registration has not ended, in the order of containers.
  /// Devices that name different apps, or that APNs refused for different topics, are different
  /// groups.
  func counts(
    of kind: DeviceToken.Kind, now: Timestamp, limit: Int
  ) throws -> [DeviceCensus.Group] {
    try connection.rows(sql.counts, [.text(kind.rawValue), .time(now), .count(limit)]) {
      DeviceCensus.Group(
        kind: kind, container: $0.text(0), bundleID: $0.optionalText(1),
        refusedTopic: $0.optionalText(2), count: $0.count(3))
    }
  }

  // MARK: Readers of the web courier

  func readers(
    of userRecordName: String, at address: DatabaseAddress, now: Timestamp
  ) throws -> [DeviceToken] {
    try connection.rows(
      sql.readers,
      [
        .text(userRecordName), .text(address.container), .text(address.environment.rawValue),
        .time(now),
      ], DeviceToken.init(row:))
  }

  func existingReaders(
    ofToken token: String, keepingThem: Bool = false
  ) throws -> [(device: DeviceToken, badge: Int)] {
    let rows = try registrations(ofToken: token, kind: .courier, keepingThem: keepingThem)
    guard !rows.isEmpty else {
      throw StoreError(.notFound, "there is no courier token '\(token)'; create a new one")
    }
    return rows
  }

  /// Locks the row (``keepingRows``).
  func reader(ofToken token: String, for entry: LogEntry) throws -> DeviceToken? {
    let address = entry.notification.database
    return try registrations(ofToken: token, kind: .courier, keepingThem: true).first {
      $0.device.container == address.container && $0.device.environment == address.environment
    }?.device
  }

  // MARK: Locks

  /// The lock keeps other transactions from registering selected devices for another user until
  /// this transaction ends (``keepsRows``). Several transactions can have it on a row, and badges
  /// can be changed meanwhile. It excludes the lock `FOR UPDATE` of ``lock(_:)``.
  private static let keepingRows = " FOR KEY SHARE"

  /// Whether selected devices are locked: not on a store for one server, nor on a distributed one.
  /// Citus would lock the whole table, so two transactions that raise badges would wait for each
  /// other. Without the lock, a delivery may be written for a device that has another user by now;
  /// the claim of this delivery abandons it.
  private var keepsRows: Bool { connection.isShared && !transaction.context.isDistributed }

  /// Waits for the transactions that write deliveries to a device, which lock its row by
  /// ``keepingRows``, and lets no new one begin. The change of the registration then finds all
  /// deliveries of the former user.
  func lock(_ name: DeviceName) throws {
    guard keepsRows else { return }
    _ = try connection.first(sql.lock, name.arguments) { _ in true }
  }

  // MARK: Badges

  func raiseBadge(of name: DeviceName, by count: Int = 1) throws -> Int? {
    try connection.first(sql.raiseBadge, name.arguments + [.count(count)]) { $0.count(0) }
  }

  func setBadge(_ badge: Int, of recipient: Recipient) throws {
    try decide(sql.setBadge, recipient.arguments + [.count(badge)])
  }

  func resetBadge(of name: DeviceName) throws {
    try decide(sql.resetBadge, name.arguments)
  }

  struct Statements {
    let gone = GoneStatements()
    let locking = LockingStatements()
    let registration = RegistrationStatements()
    let registrations = LockingStatement(
      """
      SELECT \(DeviceToken.columns), badge FROM device_tokens
      WHERE kind = $1 AND token = $2 ORDER BY container, environment
      """, lock: keepingRows)
    let ofUser: Statement = """
      SELECT \(DeviceToken.columns) FROM device_tokens WHERE user_record_name = $1
      ORDER BY registered, kind, token
      """
    let page = listing("")
    let pageOfUser = listing(" AND user_record_name = $6")
    let targets = LockingStatement(
      """
      SELECT \(targetColumns) FROM device_tokens
      WHERE user_record_name = $1 AND kind <> 'courier' AND container = $2 AND environment = $3
        AND \(isValid(at: "$4"))
      ORDER BY token
      """, lock: keepingRows)
    /// The arguments are the user, container and environment, a number by which the caller
    /// recognises the user, and the time. The last column is that number.
    let targetsOfSome = RowQuery([.text, .text, .text, .integer, .integer]) {
      """
      SELECT \(targetColumns), c4 FROM \($0)
      JOIN device_tokens ON user_record_name = c1 COLLATE "C" AND kind <> 'courier'
        AND container = c2 COLLATE "C" AND environment = c3 COLLATE "C" AND \(isValid(at: "c5"))
      ORDER BY c4, device_tokens.token FOR KEY SHARE OF device_tokens
      """
    }
    let device: Statement =
      "SELECT \(DeviceToken.columns) FROM device_tokens WHERE \(DeviceName.condition)"
    let othersCount: Statement = """
      SELECT COUNT(*) FROM device_tokens
      WHERE user_record_name = $1 AND kind = $2 AND token <> $3 AND container = $4
        AND environment = $5 AND \(DeviceTable.isValid(at: "$6"))
      """
    let counts: Statement = """
      SELECT container, bundle_id, refused_topic, COUNT(*) FROM (
        SELECT container, bundle_id, refused_topic FROM device_tokens
        WHERE kind = $1 AND \(DeviceTable.isValid(at: "$2")) LIMIT $3) AS devices
      GROUP BY container, bundle_id, refused_topic
      ORDER BY container, COALESCE(bundle_id, ''), COALESCE(refused_topic, '')
      """
    let readers: Statement = """
      SELECT \(DeviceToken.columns) FROM device_tokens
      WHERE user_record_name = $1 AND kind = 'courier' AND container = $2 AND environment = $3
        AND \(DeviceTable.isValid(at: "$4"))
      """
    let lock = "SELECT 1 FROM device_tokens WHERE \(DeviceName.condition) FOR UPDATE".except(
      .onPostgreSQL)
    let raiseBadge: Statement =
      "UPDATE device_tokens SET badge = badge + $5 WHERE \(DeviceName.condition) RETURNING badge"
    let setBadge: Statement = """
      UPDATE device_tokens SET badge = $4
      WHERE user_record_name = $1 AND container = $2 AND environment = $3
      """
    let resetBadge: Statement = "UPDATE device_tokens SET badge = 0 WHERE \(DeviceName.condition)"
  }
  static let sql = Statements()

  private static func listing(_ condition: String) -> Statement {
    """
    SELECT \(DeviceToken.columns) FROM device_tokens
    WHERE (kind, token, container, environment) > ($1, $2, $3, $4)\(condition)
    ORDER BY kind, token, container, environment LIMIT $5
    """
  }
}

extension DeviceToken {
  static let columns = """
    device_tokens.kind, device_tokens.token, device_tokens.container, \
    device_tokens.environment, device_tokens.apns_environment, device_tokens.user_record_name, \
    device_tokens.device_id, device_tokens.registered, device_tokens.expires, \
    device_tokens.endpoint_url, device_tokens.endpoint_secrets, device_tokens.sign_in, \
    device_tokens.bundle_id, device_tokens.refused, device_tokens.refused_topic
    """
  static let columnCount: Int32 = 15

  init(row: any SQLRow) throws {
    guard let kind = Kind(rawValue: row.text(0)),
      let environment = ContainerEnvironment(rawValue: row.text(3)),
      let apnsEnvironment = APNsEnvironment(rawValue: row.text(4))
    else { throw StoreError(.corrupt, "the device token '\(row.text(1))' has unknown attributes") }
    self.init(
      kind: kind, token: row.text(1), container: row.text(2), environment: environment,
      apnsEnvironment: apnsEnvironment, bundleID: row.optionalText(12),
      userRecordName: row.text(5),
      deviceID: row.optionalText(6), signIn: row.isNull(11) ? nil : row.bytes(11),
      registered: row.time(7),
      expires: row.optionalTime(8),
      endpoint: row.optionalText(9).map { WebEndpoint(url: $0, secrets: row.bytes(10)) },
      refusal: row.optionalInteger(13).map {
        Refusal(since: Timestamp(milliseconds: $0), topic: row.optionalText(14))
      })
  }

  /// False for a device without a client ID.
  func isOrigin(of change: Change) -> Bool {
    deviceID != nil && deviceID == change.deviceID && userRecordName == change.userRecordName
  }
}

extension Recipient {
  var arguments: [SQLValue] {
    [.text(userRecordName), .text(container), .text(environment.rawValue)]
  }
}

extension DeviceName {
  var arguments: [SQLValue] {
    [.text(kind.rawValue), .text(token), .text(container), .text(environment.rawValue)]
  }

  static let condition = "kind = $1 AND token = $2 AND container = $3 AND environment = $4"
}
