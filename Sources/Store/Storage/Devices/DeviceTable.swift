import CloudKitModel
import SQLEngine
import StoreModel

/// The devices of users by their tokens, and former devices, which explain why a push came or did
/// not.
///
/// A delivery has its device's number instead of the token, which is long and would be stored in
/// the row and in an index. A token keeps its number when it gets another user and when its device
/// is gone, as long as deliveries to it and `gone_devices` are kept. A number is never reused.
///
/// `first_registered` is the start of the user's present registration of the device; `registered`
/// is the time of the last renewal.
///
/// The index returns a user's devices in order: an engine that has to sort them may instead scan
/// all devices.
///
/// The courier's readers are rows of the kind `courier`. They have no number, since nothing is
/// delivered to them: they read the log.
struct DeviceTable {
  let transaction: StoreTransaction

  var connection: any SQLConnection { transaction.connection }

  /// A `device_tokens` row is a present registration, keyed by kind and token: a token belongs to
  /// one user at a time. `expires` is null for APNs tokens. `endpoint_url` and `endpoint_secrets`
  /// are null except for browsers and webhooks. A `gone_devices` row is one former period, from
  /// `first_registered` to `gone`. All times are in milliseconds since 1970.
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

  /// A registered device with its badge; nil if there is none.
  func device(
    withToken token: String, kind: DeviceToken.Kind
  ) throws -> (device: DeviceToken, badge: Int)? {
    try connection.first(
      "SELECT \(DeviceToken.columns), badge FROM device_tokens WHERE kind = $1 AND token = $2",
      [.text(kind.rawValue), .text(token)]
    ) { (try DeviceToken(row: $0), Int($0.integer(DeviceToken.columnCount))) }
  }

  /// A user's devices of all kinds, in the order of their last registrations.
  func devices(of userRecordName: String) throws -> [DeviceToken] {
    try connection.rows(
      "SELECT \(DeviceToken.columns) FROM device_tokens WHERE user_record_name = $1"
        + " ORDER BY registered, kind, token", [.text(userRecordName)], DeviceToken.init(row:))
  }

  /// A page of devices in the order of their kinds and tokens.
  ///
  /// - Parameters:
  ///   - userRecordName: the user whose devices are listed; nil for all users.
  ///   - last: the device before the page; nil for the first page.
  ///   - limit: the most devices in the page.
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

  /// The number of other devices of the same kind that a device's user has in its container.
  /// Devices that had expired when the device was registered do not count.
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

  /// Visits the unexpired devices to which a user's notifications of a container are pushed, each
  /// with its number. The courier's readers poll instead. No other transaction gives the devices
  /// another user until this one ends.
  ///
  /// The devices come in the order of their tokens. A device without a number is a fault of the
  /// store.
  ///
  /// - Parameter now: devices that have expired by then are left out.
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

  /// The number of devices of a kind in each container, in the order of containers.
  ///
  /// - Parameter limit: the most devices counted in all containers together.
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

  /// The rows of a courier's token, each with its badge; the row of the token itself comes first.
  /// Empty if there is no such token.
  ///
  /// - Parameter keepingThem: whether to lock the rows, so that no other transaction gives them
  ///   another reader before this one ends.
  func readers(
    ofToken token: String, keepingThem: Bool = false
  ) throws -> [(device: DeviceToken, badge: Int)] {
    // The range of names that begin with the token and a space ends at the character after the
    // space.
    let rows = try connection.rows(
      "SELECT \(DeviceToken.columns), badge FROM device_tokens"
        + " WHERE kind = 'courier' AND token >= $1 AND token < $2 ORDER BY token"
        + (keepingThem ? keepingRows : ""),
      [.text(token), .text(token + "!")]
    ) { (device: try DeviceToken(row: $0), badge: Int($0.integer(DeviceToken.columnCount))) }
    return rows.first?.device.token == token ? rows : []
  }

  /// The rows of a courier's token; see ``readers(ofToken:keepingThem:)``.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such token.
  func existingReaders(
    ofToken token: String, keepingThem: Bool = false
  ) throws -> [(device: DeviceToken, badge: Int)] {
    let rows = try readers(ofToken: token, keepingThem: keepingThem)
    guard !rows.isEmpty else {
      throw StoreError(.notFound, "there is no courier token '\(token)'; create a new one")
    }
    return rows
  }

  /// The row with which a reader listens to an entry's container. The row is locked, so that no
  /// other transaction gives it another reader before this one ends. The result is nil if the
  /// reader does not listen in that container.
  func reader(ofToken token: String, for entry: LogEntry) throws -> DeviceToken? {
    let address = entry.notification.database
    return try readers(ofToken: token, keepingThem: true).first {
      $0.device.container == address.container && $0.device.environment == address.environment
    }?.device
  }

  // MARK: Locks

  /// The end of a selection of devices that locks them, so that no other transaction gives them
  /// another reader before this one ends.
  ///
  /// On a distributed store, Citus would lock the whole table instead of some rows, and two
  /// transactions that raise badges would wait for each other. There, taking a delivery finds those
  /// of a device that has another user by now.
  ///
  /// `FOR KEY SHARE` permits other such locks, and badge counts. That lock conflicts with `FOR
  /// UPDATE` of ``lock(_:kind:)``.
  private var keepingRows: String {
    connection.isShared && !transaction.context.isDistributed ? " FOR KEY SHARE" : ""
  }

  /// Waits for transactions that are logging entries for the device's reader, and keeps others from
  /// it. So a change of the device's user finds all of its deliveries.
  ///
  /// Those transactions lock its row by ``keepingRows``. The method does nothing on a store for one
  /// server, and on a distributed store.
  func lock(_ token: String, kind: DeviceToken.Kind) throws {
    guard connection.isShared, !transaction.context.isDistributed else { return }
    _ = try connection.first(
      "SELECT 1 FROM device_tokens WHERE kind = $1 AND token = $2 FOR UPDATE",
      [.text(kind.rawValue), .text(token)]
    ) { _ in true }
  }

  // MARK: Badges

  /// Adds one to a token's badge and returns it. The result is nil if there is no such device.
  func raiseBadge(of token: String, kind: DeviceToken.Kind) throws -> Int? {
    try connection.first(
      """
      UPDATE device_tokens SET badge = badge + 1 WHERE kind = $1 AND token = $2 RETURNING badge
      """, [.text(kind.rawValue), .text(token)]
    ) { Int($0.integer(0)) }
  }

  /// Sets the badge of all devices of a recipient, in the container's environment.
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

  /// Sets a device's badge to 0, because it has a new user or container.
  func resetBadge(of token: String, kind: DeviceToken.Kind) throws {
    try connection.run(
      "UPDATE device_tokens SET badge = 0 WHERE kind = $1 AND token = $2",
      [.text(kind.rawValue), .text(token)])
  }
}
