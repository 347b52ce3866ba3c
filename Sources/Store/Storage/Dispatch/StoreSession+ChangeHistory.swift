import CloudKitModel
import SQLEngine

// What is written for explanations beside what they are of.
extension StoreSession {
  /// Notes that devices are about to go. One whose registration has expired before was gone from then on.
  /// Readers of the web courier come and go, and are not noted.
  func rememberGoneDevices(
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

  /// Forgets devices that have been gone for long; whether there may be more of them.
  func trimGoneDevices(before horizon: Int64) throws -> Bool {
    let tokens = try connection.rows(
      """
      DELETE FROM gone_devices WHERE (user_record_name, kind, token, first_registered) IN (
        SELECT user_record_name, kind, token, first_registered FROM gone_devices
        WHERE gone < $1 LIMIT $2)
      RETURNING token
      """, [.integer(horizon), .integer(Retention.batch)]
    ) { $0.text(0) }
    for token in Set(tokens).sorted() { try dropDeviceNumber(of: token) }
    return tokens.count == Int(Retention.batch)
  }
}
