import CloudKitModel
import SQLEngine
import StoreModel

// MARK: Former devices, and the numbers of tokens

extension DeviceTable {
  /// Copies registrations into `gone_devices`, before the caller deletes or changes them, to
  /// explain later why a device got no push. Readers of the web courier are not copied, because
  /// they are created and deleted often.
  ///
  /// - Parameter reason: a part of a sentence such as "it was unregistered".
  func rememberGone(
    _ devices: EndingDevices, _ arguments: [SQLValue], at timestamp: Timestamp,
    because reason: String
  ) throws {
    try decide(devices.remember, arguments + [.time(timestamp), .text(reason)])
  }

  /// Also deletes the numbers of their tokens. Returns whether there may be more.
  func trimGone(before horizon: Int64) throws -> Bool {
    let gone = try connection.rows(
      sql.gone.trim, [.integer(horizon), .integer(Retention.batch)], NumberedToken.init(row:))
    for token in Set(gone).sorted() { try dropNumber(of: token) }
    return gone.count == Int(Retention.batch)
  }

  func forgetGone(of userRecordName: String) throws -> Set<NumberedToken> {
    Set(try connection.rows(sql.gone.forget, [.text(userRecordName)], NumberedToken.init(row:)))
  }

  /// In the order of kinds, tokens and starts. The period of a registered device has no reason.
  func periods(of recipient: Recipient) throws -> [DevicePeriod] {
    try connection.rows(sql.gone.periods, recipient.arguments, DevicePeriod.init(row:))
  }

  // MARK: Numbers

  /// A token has one number in a container and environment, whatever its kind.
  struct NumberedToken: Hashable, Comparable {
    static let columns = "token, container, environment"
    static let condition = "token = $1 AND container = $2 AND environment = $3"

    let values: [String]

    var arguments: [SQLValue] { values.map { .text($0) } }

    init(row: any SQLRow) { values = (0..<3).map { row.text($0) } }

    init(_ name: DeviceName) { values = [name.token, name.container, name.environment.rawValue] }

    static func < (left: Self, right: Self) -> Bool {
      left.values.lexicographicallyPrecedes(right.values)
    }
  }

  /// The caller has the reference lock.
  func giveNumber(to token: NumberedToken) throws {
    if try keepNumber(of: token) { return }
    try decide(
      sql.gone.giveNumber,
      token.arguments + [.integer(try CounterTable(transaction: transaction).next("device"))])
  }

  /// An SQL list, such as `'apns', 'webPush'`.
  private static let pushedKinds = DeviceToken.Kind.allCases.filter(\.isPushed)
    .map { "'\($0.rawValue)'" }.joined(separator: ", ")

  /// Does nothing while a registered device or a row of `gone_devices` has the token. Those rows
  /// are kept as long as deliveries, so no delivery refers to the deleted number.
  func dropNumber(of token: NumberedToken) throws {
    // The lock waits for a transaction that registers the token. So the next statement sees the
    // registered device.
    guard try keepNumber(of: token) else { return }
    try decide(sql.gone.dropNumber, token.arguments)
  }

  /// Locks the row of a token's number until this transaction ends.
  private func keepNumber(of token: NumberedToken) throws -> Bool {
    try connection.run(sql.gone.keepNumber, token.arguments) > 0
  }

  struct GoneStatements {
    let trim: Statement = """
      DELETE FROM gone_devices
      WHERE (user_record_name, kind, token, container, environment, first_registered) IN (
        SELECT user_record_name, kind, token, container, environment, first_registered
        FROM gone_devices WHERE gone < $1 LIMIT $2)
      RETURNING \(NumberedToken.columns)
      """
    let forget: Statement =
      "DELETE FROM gone_devices WHERE user_record_name = $1 RETURNING \(NumberedToken.columns)"
    let periods: Statement = """
      SELECT kind, token, apns_environment, device_id, first_registered AS began,
        \(DeviceTable.ending) AS ended,
        NULL AS reason, bundle_id
      FROM device_tokens WHERE user_record_name = $1 AND container = $2 AND environment = $3
      UNION ALL
      SELECT kind, token, apns_environment, device_id, first_registered, gone, reason,
        bundle_id
      FROM gone_devices WHERE user_record_name = $1 AND container = $2 AND environment = $3
      ORDER BY kind, token, began
      """
    let giveNumber: Statement = """
      INSERT INTO device_numbers (\(NumberedToken.columns), device) VALUES ($1, $2, $3, $4)
      ON CONFLICT (\(NumberedToken.columns)) DO NOTHING
      """
    let dropNumber: Statement = """
      DELETE FROM device_numbers WHERE \(NumberedToken.condition)
        AND NOT EXISTS (
          SELECT 1 FROM device_tokens
          WHERE kind IN (\(DeviceTable.pushedKinds)) AND \(NumberedToken.condition))
        AND NOT EXISTS (SELECT 1 FROM gone_devices WHERE \(NumberedToken.condition))
      """
    let keepNumber: Statement =
      "UPDATE device_numbers SET token = $1 WHERE \(NumberedToken.condition)"
  }
}

/// Registrations of devices that end, by a condition on rows of `device_tokens`.
struct EndingDevices {
  /// The time and the reason follow the arguments of the condition.
  let remember: Statement
  let delete: Statement

  /// - Parameter condition: has parameters from `$1` on, as many as `count`.
  init(_ condition: String, arguments count: Int, _ traits: Statement.Traits = []) {
    let (ending, gone, why) = (DeviceTable.ending, "$\(count + 1)", "$\(count + 2)")
    remember = """
      INSERT INTO gone_devices
        (user_record_name, kind, token, container, environment, apns_environment, bundle_id,
         device_id, first_registered, gone, reason)
      SELECT user_record_name, kind, token, container, environment, apns_environment, bundle_id,
        device_id, first_registered,
        CASE WHEN \(ending) < \(gone) THEN \(ending) ELSE \(gone) END,
        CASE WHEN \(ending) < \(gone) THEN 'it expired' ELSE \(why) END
      FROM device_tokens WHERE \(condition) AND kind <> 'courier'
      ON CONFLICT (user_record_name, kind, token, container, environment, first_registered)
      DO UPDATE SET apns_environment = excluded.apns_environment,
        bundle_id = excluded.bundle_id, device_id = excluded.device_id, gone = excluded.gone,
        reason = excluded.reason
      """.except(traits)
    delete = Statement(
      "DELETE FROM device_tokens WHERE \(condition) RETURNING \(DeviceToken.columns)", traits)
  }
}

extension DevicePeriod {
  fileprivate init(row: any SQLRow) throws {
    guard let kind = DeviceToken.Kind(rawValue: row.text(0)),
      let apnsEnvironment = APNsEnvironment(rawValue: row.text(2))
    else { throw StoreError(.corrupt, "the device '\(row.text(1))' has unknown attributes") }
    self.init(
      kind: kind, token: row.text(1), apnsEnvironment: apnsEnvironment,
      bundleID: row.optionalText(7), deviceID: row.optionalText(3), began: row.time(4),
      ended: row.optionalTime(5), reason: row.optionalText(6))
  }
}
