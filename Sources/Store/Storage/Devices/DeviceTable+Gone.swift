import CloudKitModel
import SQLEngine
import StoreModel

// MARK: Former devices, and numbers of tokens

extension DeviceTable {
  /// Records devices that are about to be removed, for explanations of missing pushes.
  ///
  /// A device whose registration has expired was gone from then on. Readers of the web courier come
  /// and go, and are not recorded.
  ///
  /// - Parameters:
  ///   - condition: SQL that selects rows of `device_tokens` with the parameters `$1` and
  ///     following.
  ///   - arguments: the values of these parameters.
  ///   - timestamp: the time of the removal.
  ///   - reason: the reason, as a part of a sentence such as "it was unregistered".
  func rememberGone(
    where condition: String, _ arguments: [SQLValue], at timestamp: Timestamp,
    because reason: String
  ) throws {
    let (gone, why) = ("$\(arguments.count + 1)", "$\(arguments.count + 2)")
    try connection.run(
      """
      INSERT INTO gone_devices
        (user_record_name, kind, token, container, environment, apns_environment, device_id,
         first_registered, gone, reason)
      SELECT user_record_name, kind, token, container, environment, apns_environment, device_id,
        first_registered, CASE WHEN expires < \(gone) THEN expires ELSE \(gone) END,
        CASE WHEN expires < \(gone) THEN 'it expired' ELSE \(why) END
      FROM device_tokens WHERE \(condition) AND kind <> 'courier'
      ON CONFLICT (user_record_name, kind, token, first_registered) DO UPDATE SET
        container = excluded.container, environment = excluded.environment,
        apns_environment = excluded.apns_environment, device_id = excluded.device_id,
        gone = excluded.gone, reason = excluded.reason
      """, arguments + [.integer(timestamp.milliseconds), .text(reason)])
  }

  /// Deletes a batch of devices that have been gone for long; returns whether there may be more.
  ///
  /// Numbers of tokens that nothing needs any more are deleted with them. A batch has at most
  /// ``Retention/batch`` devices.
  func trimGone(before horizon: Int64) throws -> Bool {
    let tokens = try connection.rows(
      """
      DELETE FROM gone_devices WHERE (user_record_name, kind, token, first_registered) IN (
        SELECT user_record_name, kind, token, first_registered FROM gone_devices
        WHERE gone < $1 LIMIT $2)
      RETURNING token
      """, [.integer(horizon), .integer(Retention.batch)]
    ) { $0.text(0) }
    for token in Set(tokens).sorted() { try dropNumber(of: token) }
    return tokens.count == Int(Retention.batch)
  }

  /// Deletes the records of a user's former devices.
  ///
  /// - Returns: their tokens, whose numbers may have to be dropped (``dropNumber(of:)``).
  func forgetGone(of userRecordName: String) throws -> Set<String> {
    Set(
      try connection.rows(
        "DELETE FROM gone_devices WHERE user_record_name = $1 RETURNING token",
        [.text(userRecordName)]
      ) { $0.text(0) })
  }

  /// The periods during which a recipient had devices.
  ///
  /// A present device has no reason. The end of its period is its expiry, or nil if it has none. A
  /// former device has the time and the reason of its removal. The result is in the order of kinds,
  /// tokens and beginnings.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` for an unknown kind or APNs environment.
  func periods(of recipient: Recipient) throws -> [DevicePeriod] {
    try connection.rows(
      """
      SELECT kind, token, apns_environment, device_id, first_registered AS began, expires AS ended,
        NULL AS reason
      FROM device_tokens WHERE user_record_name = $1 AND container = $2 AND environment = $3
      UNION ALL
      SELECT kind, token, apns_environment, device_id, first_registered, gone, reason
      FROM gone_devices WHERE user_record_name = $1 AND container = $2 AND environment = $3
      ORDER BY kind, token, began
      """,
      [
        .text(recipient.userRecordName), .text(recipient.container),
        .text(recipient.environment.rawValue),
      ], DevicePeriod.init(row:))
  }

  // MARK: Numbers

  /// Gives a token a number, unless it has one.
  ///
  /// - Throws: ``LocksNeeded`` if the token is new and the transaction does not have the reference
  ///   lock.
  func giveNumber(to token: String) throws {
    if try keepNumber(of: token) { return }
    try connection.run(
      "INSERT INTO device_numbers (device, token) VALUES ($1, $2) ON CONFLICT (token) DO NOTHING",
      [.integer(try CounterTable(transaction: transaction).next("device")), .text(token)])
  }

  /// The kinds of devices that have numbers, as SQL.
  private static let pushedKinds = DeviceToken.Kind.allCases.filter(\.isPushed)
    .map { "'\($0.rawValue)'" }.joined(separator: ", ")

  /// Drops the number of a token that no device has, and none had for as long as deliveries are
  /// kept. The method does nothing for a token that still has a device, or a former device.
  func dropNumber(of token: String) throws {
    // The lock waits for a transaction that registers the token, so that the next statement sees
    // its device.
    guard try keepNumber(of: token) else { return }
    try connection.run(
      """
      DELETE FROM device_numbers WHERE token = $1
        AND NOT EXISTS (
          SELECT 1 FROM device_tokens
          WHERE kind IN (\(Self.pushedKinds)) AND device_tokens.token = $1)
        AND NOT EXISTS (SELECT 1 FROM gone_devices WHERE gone_devices.token = $1)
      """, [.text(token)])
  }

  /// Keeps other transactions from dropping a token's number, or from giving it to a device, until
  /// this transaction ends; false if the token has no number. The statement changes nothing, but
  /// locks the row.
  private func keepNumber(of token: String) throws -> Bool {
    try connection.run("UPDATE device_numbers SET token = $1 WHERE token = $1", [.text(token)]) > 0
  }
}

extension DevicePeriod {
  /// Reads a row of ``DeviceTable/periods(of:)``.
  fileprivate init(row: any SQLRow) throws {
    guard let kind = DeviceToken.Kind(rawValue: row.text(0)),
      let apnsEnvironment = APNsEnvironment(rawValue: row.text(2))
    else { throw StoreError(.corrupt, "the device '\(row.text(1))' has unknown attributes") }
    self.init(
      kind: kind, token: row.text(1), apnsEnvironment: apnsEnvironment,
      deviceID: row.optionalText(3), began: Timestamp(milliseconds: row.integer(4)),
      ended: row.optionalInteger(5).map { Timestamp(milliseconds: $0) },
      reason: row.optionalText(6))
  }
}
