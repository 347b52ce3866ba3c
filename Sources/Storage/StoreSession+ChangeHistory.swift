import CloudKitModel

// What is written for explanations beside what they are of.
extension StoreSession {
  /// Puts changes into the history, over those whose slots they take.
  static let insertingHistory = RowInsertion.Statements(
    """
    INSERT INTO change_history
      (database_id, slot, sequence, subscription_version, dispatched, record_name, content)
    """, argumentsEach: 7,
    tail: """
       ON CONFLICT (database_id, slot) DO UPDATE SET sequence = excluded.sequence,
        subscription_version = excluded.subscription_version, dispatched = excluded.dispatched,
        record_name = excluded.record_name, content = excluded.content
      """
  ) { first in (first..<first + 7).map { "$\($0)" }.joined(separator: ", ") }

  /// The slot of a database's next change in the history: a free one, or the oldest.
  func nextHistorySlot(of database: DatabaseID) throws -> Int64 {
    let last =
      try catalog.historySlots[database]
      ?? connection.first(
        """
        SELECT slot FROM change_history WHERE database_id = $1 ORDER BY sequence DESC LIMIT 1
        """, [.integer(database.rawValue)]
      ) { $0.integer(0) }
      ?? -1
    let slot = (last + 1) % Int64(historyLimits.changes)
    if catalog.historySlots.count >= 50_000 { catalog.historySlots = [:] }
    catalog.historySlots[database] = slot
    return slot
  }

  /// Notes that devices are about to go. Readers of the web courier come and go, and are not noted.
  func rememberGoneDevices(
    where condition: String, _ arguments: [SQLValue], at timestamp: Timestamp,
    because reason: String
  ) throws {
    let (gone, why) = ("$\(arguments.count + 1)", "$\(arguments.count + 2)")
    try connection.run(
      """
      INSERT INTO gone_devices
        (user_record_name, kind, token, container, environment, registered, gone, reason)
      SELECT user_record_name, kind, token, container, environment, registered, \(gone), \(why)
      FROM device_tokens WHERE \(condition) AND kind <> 'courier'
      ON CONFLICT (user_record_name, kind, token) DO UPDATE SET container = excluded.container,
        environment = excluded.environment, registered = excluded.registered,
        gone = excluded.gone, reason = excluded.reason
      """, arguments + [.integer(timestamp.milliseconds), .text(reason)])
  }

  /// Forgets devices that have been gone for long; whether there may be more of them.
  func trimGoneDevices(before horizon: Int64) throws -> Bool {
    let dropped = try connection.run(
      """
      DELETE FROM gone_devices WHERE (user_record_name, kind, token) IN (
        SELECT user_record_name, kind, token FROM gone_devices WHERE gone < $1 LIMIT $2)
      """, [.integer(horizon), .integer(Retention.batch)])
    return dropped == Int(Retention.batch)
  }
}
