import CloudKitModel
import SQLEngine
import StoreModel

/// The devices of users, by the tokens they are sent to with, and those that are gone, for those who ask
/// why a push came or did not.
///
/// A delivery has its device's number and not its token, which is long, and would stand in the row and in
/// an index. A token keeps its number when it changes hands and when its device is gone, for as long as
/// deliveries to it and `gone_devices` are kept. A number is never given twice.
///
/// `first_registered` is when the user's device was registered after it was not: `registered` is when it
/// was last.
///
/// The index gives a user's devices in order: an engine that has to sort them may rather walk all devices.
struct DeviceTable {
  let transaction: StoreTransaction

  var connection: any SQLConnection { transaction.connection }

  static let definition = [
    """
    CREATE TABLE device_tokens (
      kind TEXT NOT NULL, token TEXT NOT NULL, container TEXT NOT NULL,
      environment TEXT NOT NULL, apns_environment TEXT NOT NULL, user_record_name TEXT NOT NULL,
      device_id TEXT, first_registered BIGINT NOT NULL, registered BIGINT NOT NULL,
      expires BIGINT, badge BIGINT NOT NULL,
      endpoint_url TEXT, endpoint_secrets BYTEA, PRIMARY KEY (kind, token))
    """,
    "CREATE INDEX device_tokens_by_user ON device_tokens (user_record_name, kind, token)",
    """
    CREATE TABLE device_numbers (device BIGINT PRIMARY KEY, token TEXT NOT NULL UNIQUE) /*clustered*/
    """,
    """
    CREATE TABLE gone_devices (
      user_record_name TEXT NOT NULL, kind TEXT NOT NULL, token TEXT NOT NULL,
      container TEXT NOT NULL, environment TEXT NOT NULL, apns_environment TEXT NOT NULL,
      device_id TEXT, first_registered BIGINT NOT NULL, gone BIGINT NOT NULL, reason TEXT NOT NULL,
      PRIMARY KEY (user_record_name, kind, token, first_registered))
    """,
    "CREATE INDEX gone_devices_by_time ON gone_devices (gone)",
    "CREATE INDEX gone_devices_by_token ON gone_devices (token)",
  ]

  // MARK: Reading

  func device(
    withToken token: String, kind: DeviceToken.Kind
  ) throws -> (device: DeviceToken, badge: Int)? {
    try connection.first(
      "SELECT \(DeviceToken.columns), badge FROM device_tokens WHERE kind = $1 AND token = $2",
      [.text(kind.rawValue), .text(token)]
    ) { (try DeviceToken(row: $0), Int($0.integer(DeviceToken.columnCount))) }
  }

  func devices(of userRecordName: String) throws -> [DeviceToken] {
    try connection.rows(
      "SELECT \(DeviceToken.columns) FROM device_tokens WHERE user_record_name = $1"
        + " ORDER BY registered, kind, token", [.text(userRecordName)], DeviceToken.init(row:))
  }

  /// A page of devices, in the order of their kinds and tokens.
  ///
  /// - Parameter userRecordName: whose; nil for everybody's.
  func devices(
    of userRecordName: String?, after last: DeviceName?, limit: Int
  ) throws -> [DeviceToken] {
    var arguments: [SQLValue] = [
      .text(last?.kind.rawValue ?? ""), .text(last?.token ?? ""), .integer(Int64(limit)),
    ]
    if let userRecordName { arguments.append(.text(userRecordName)) }
    return try connection.rows(
      """
      SELECT \(DeviceToken.columns) FROM device_tokens
      WHERE (kind, token) > ($1, $2)\(userRecordName == nil ? "" : " AND user_record_name = $4")
      ORDER BY kind, token LIMIT $3
      """, arguments, DeviceToken.init(row:))
  }

  /// How many other devices of its kind a device's user has in its container that have not expired.
  func othersCount(besides device: DeviceToken) throws -> Int {
    try connection.first(
      """
      SELECT COUNT(*) FROM device_tokens
      WHERE user_record_name = $1 AND kind = $2 AND token <> $3 AND container = $4
        AND environment = $5 AND (expires IS NULL OR expires > $6)
      """,
      [
        .text(device.userRecordName), .text(device.kind.rawValue), .text(device.token),
        .text(device.container), .text(device.environment.rawValue),
        .integer(device.registered.milliseconds),
      ]
    ) { Int($0.integer(0)) } ?? 0
  }

  /// Visits a user's devices in a container that are sent to and not expired, each with its number; the
  /// courier's readers come by themselves. Nobody gives them another user until the transaction ends.
  func visitTargets(
    of userRecordName: String, at address: DatabaseAddress, now: Timestamp,
    _ visit: (DeviceToken, _ number: Int64?) throws -> Void
  ) throws {
    try connection.query(
      """
      SELECT \(DeviceToken.columns), (
        SELECT device FROM device_numbers WHERE device_numbers.token = device_tokens.token)
      FROM device_tokens
      WHERE user_record_name = $1 AND kind <> 'courier' AND container = $2 AND environment = $3
        AND (expires IS NULL OR expires > $4)
      ORDER BY token\(keepingRows)
      """,
      [
        .text(userRecordName), .text(address.container), .text(address.environment.rawValue),
        .integer(now.milliseconds),
      ]
    ) { try visit(try DeviceToken(row: $0), $0.optionalInteger(DeviceToken.columnCount)) }
  }

  /// How many devices of a kind each container has, in the order of containers.
  func counts(
    of kind: DeviceToken.Kind, now: Timestamp, limit: Int
  ) throws -> [(container: String, count: Int)] {
    try connection.rows(
      """
      SELECT container, COUNT(*) FROM (
        SELECT container FROM device_tokens
        WHERE kind = $1 AND (expires IS NULL OR expires > $2) LIMIT $3) AS devices
      GROUP BY container ORDER BY container
      """, [.text(kind.rawValue), .integer(now.milliseconds), .integer(Int64(limit))]
    ) { (container: $0.text(0), count: Int($0.integer(1))) }
  }

  // MARK: The courier's readers

  /// The rows of a courier's token, each with its badge, the one of the token itself first. Empty
  /// when there is no such token.
  ///
  /// - Parameter keepingThem: Nobody may give them another reader until the transaction ends.
  func readers(
    ofToken token: String, keepingThem: Bool = false
  ) throws -> [(device: DeviceToken, badge: Int)] {
    // The character behind the space ends the names that begin with the token and a space.
    let rows = try connection.rows(
      "SELECT \(DeviceToken.columns), badge FROM device_tokens"
        + " WHERE kind = 'courier' AND token >= $1 AND token < $2 ORDER BY token"
        + (keepingThem ? keepingRows : ""),
      [.text(token), .text(token + "!")]
    ) { (device: try DeviceToken(row: $0), badge: Int($0.integer(DeviceToken.columnCount))) }
    return rows.first?.device.token == token ? rows : []
  }

  /// - Throws: ``StoreError/Code/notFound`` when there is no such token.
  func existingReaders(
    ofToken token: String, keepingThem: Bool = false
  ) throws -> [(device: DeviceToken, badge: Int)] {
    let rows = try readers(ofToken: token, keepingThem: keepingThem)
    guard !rows.isEmpty else {
      throw StoreError(.notFound, "there is no courier token '\(token)'; create one again")
    }
    return rows
  }

  /// The row with which a reader listens to what an entry is of, which nobody gives to another until the
  /// transaction ends.
  func reader(ofToken token: String, for entry: LogEntry) throws -> DeviceToken? {
    let address = entry.notification.database
    return try readers(ofToken: token, keepingThem: true).first {
      $0.device.container == address.container && $0.device.environment == address.environment
    }?.device
  }

  // MARK: Locks

  /// What a selection of devices ends with, so that nobody gives them another reader until the transaction
  /// ends.
  ///
  /// Where nodes have copies of the table, Citus keeps all of it in place of some rows: two that then raise
  /// badges would wait for each other. There what is owed to a device that has changed hands is found by who
  /// takes it.
  private var keepingRows: String {
    connection.isShared && !transaction.context.isDistributed ? " FOR KEY SHARE" : ""
  }

  /// Waits for those who are about to log something for the device's reader, and keeps others from it:
  /// what is owed to a device that changes hands is to be found. They keep its row by ``keepingRows``.
  func lock(_ token: String, kind: DeviceToken.Kind) throws {
    guard connection.isShared, !transaction.context.isDistributed else { return }
    _ = try connection.first(
      "SELECT 1 FROM device_tokens WHERE kind = $1 AND token = $2 FOR UPDATE",
      [.text(kind.rawValue), .text(token)]
    ) { _ in true }
  }

  // MARK: Badges

  /// Adds one to a token's badge and returns it.
  func raiseBadge(of token: String, kind: DeviceToken.Kind) throws -> Int? {
    try connection.first(
      """
      UPDATE device_tokens SET badge = badge + 1 WHERE kind = $1 AND token = $2 RETURNING badge
      """, [.text(kind.rawValue), .text(token)]
    ) { Int($0.integer(0)) }
  }

  func setBadge(_ badge: Int, of recipient: Recipient) throws {
    try connection.run(
      """
      UPDATE device_tokens SET badge = $4
      WHERE user_record_name = $1 AND container = $2 AND environment = $3
      """,
      [
        .text(recipient.userRecordName), .text(recipient.container),
        .text(recipient.environment.rawValue), .integer(Int64(badge)),
      ])
  }

  func resetBadge(of token: String, kind: DeviceToken.Kind) throws {
    try connection.run(
      "UPDATE device_tokens SET badge = 0 WHERE kind = $1 AND token = $2",
      [.text(kind.rawValue), .text(token)])
  }
}
