import CloudKitModel
import SQLEngine
import StoreModel

/// One transaction of the deletion of a user.
///
/// Each step removes a batch of what its stage is for in one database, or finds that there is no more and
/// goes on to the next database or stage. What it removes is looked for again in the transaction, so that a
/// step may be taken twice.
struct UserDeletionStep {
  /// Rows that a step removes.
  static let batch = Retention.batch

  var row: UserDeletionRow
  let user: String
  let timestamp: Timestamp
  let transaction: StoreTransaction

  init(
    _ row: UserDeletionRow, of user: String, at timestamp: Timestamp,
    in transaction: StoreTransaction
  ) {
    self.row = row
    self.user = user
    self.timestamp = timestamp
    self.transaction = transaction
  }

  var connection: any SQLConnection { transaction.connection }
  var database: DatabaseID { DatabaseID(rawValue: row.database) }
  var place: SQLValue { .integer(row.database) }

  /// Takes the step and keeps how far the deletion is.
  ///
  /// - Throws: ``LocksNeeded``.
  mutating func run() throws -> UserDeletion {
    let before = row
    if row.deletion.stage != .account, row.database == 0 {
      row.database = try nextDatabase() ?? 0
      if row.database != 0 { try transaction.require(.database(database)) }
    }
    if try removeSome(), row.deletion.state != .waiting { try goOn() }
    var kept = row
    kept.deletion.state = before.deletion.state
    if kept != before { try UserDeletionTable(transaction: transaction).keep(row) }
    return row.deletion
  }

  /// Goes on with the next database, in a step with its locks, or with the next stage.
  private mutating func goOn() throws {
    row.position = 0
    row.database = row.database == 0 ? 0 : try nextDatabase() ?? 0
    guard row.database == 0 else { return }
    guard let next = UserDeletion.Stage(rawValue: row.deletion.stage.rawValue + 1) else { return }
    row.deletion.stage = next
  }

  /// The database behind the one where the step is in which there may be something for its stage.
  private func nextDatabase() throws -> Int64? {
    let behind = SQLValue.integer(row.database)
    let found: Int64?? =
      switch row.deletion.stage {
      case .publicRows, .subscriptions, .publicRecords, .dispatch, .changes, .notifications:
        try connection.first(
          "SELECT MIN(number) FROM database_addresses WHERE scope = $1 AND number > $2",
          [.integer(Int64(DatabaseScope.public.rawValue)), behind]
        ) { $0.optionalInteger(0) }
      case .privateDatabases:
        try connection.first(
          """
          SELECT MIN(number) FROM database_addresses
          WHERE owner = $1 AND number > $2 AND scope <> $3
          """, [.text(user), behind, .integer(Int64(DatabaseScope.public.rawValue))]
        ) { $0.optionalInteger(0) }
      case .notificationIndex:
        try connection.first(
          "SELECT MIN(number) FROM subscriber_databases WHERE subscriber = $1 AND number > $2",
          [.text(user), behind]
        ) { $0.optionalInteger(0) }
      case .account, .erasure: nil
      }
    return found ?? nil
  }

  /// Removes a batch in the database, or the account; true when there is no more.
  private mutating func removeSome() throws -> Bool {
    if row.deletion.stage == .account {
      try removeAccount()
      return true
    }
    guard row.database != 0 else { return true }
    switch row.deletion.stage {
    case .publicRows:
      guard try removeUploads(of: user) else { return false }
      return try removeRows()
    case .subscriptions: return try removeSubscriptions()
    case .publicRecords: return try changeRecords()
    case .dispatch: return try waitForDispatch()
    case .changes: return try changeHistory()
    case .notifications:
      guard try changeNotifications() else { return false }
      return try removeRows()
    case .privateDatabases: return try removeDatabase()
    case .notificationIndex: return try removeIndexEntries()
    case .account, .erasure: return true
    }
  }
}

// MARK: Rows by their keys

extension UserDeletionStep {
  /// Removes a batch of rows of a table in the database.
  ///
  /// - Parameter condition: which of them, with the user's name as `$3`.
  /// - Returns: how many.
  mutating func remove(
    _ table: String, _ key: [String], where condition: String? = nil, limit: Int64
  ) throws -> Int64 {
    let columns = key.joined(separator: ", ")
    let which = condition.map { " AND \($0)" } ?? ""
    let removed = try connection.run(
      """
      DELETE FROM \(table) WHERE database_id = $1 AND (\(columns)) IN (
        SELECT \(columns) FROM \(table) WHERE database_id = $1\(which) LIMIT $2)
      """, [place, .integer(limit)] + (condition == nil ? [] : [.text(user)]))
    row.deletion.done += removed
    return Int64(removed)
  }

  /// Removes the user's rows in tables that have the user's name; true when there are no more.
  private mutating func removeRows() throws -> Bool {
    for (stage, table, column) in UserTraces.publicColumns where stage == row.deletion.stage {
      guard let key = UserTraces.databaseTables.first(where: { $0.name == table })?.key else {
        continue
      }
      if table == "subscription_deletions" { try forgetSubscriptionDeletions() }
      let removed = try remove(table, key, where: "\(column) = $3", limit: Self.batch)
      if removed == Self.batch { return false }
    }
    return true
  }

  /// Who has not heard of the user's deletions reads all subscriptions anew.
  private func forgetSubscriptionDeletions() throws {
    try connection.run(
      """
      UPDATE databases SET forgotten_version = COALESCE((
        SELECT MAX(version) FROM subscription_deletions
        WHERE subscription_deletions.database_id = $1 AND subscriber = $2
          AND version > forgotten_version), forgotten_version)
      WHERE database_id = $1
      """, [place, .text(user)])
  }

  private mutating func removeSubscriptions() throws -> Bool {
    let names = try connection.rows(
      """
      SELECT subscription_id FROM subscriptions WHERE database_id = $1 AND subscriber = $2
      ORDER BY subscription_id LIMIT $3
      """, [place, .text(user), .integer(Self.batch)]
    ) { SubscriptionName(subscriber: user, subscriptionID: $0.text(0)) }
    guard !names.isEmpty else { return true }
    let version = try DatabaseTable(transaction: transaction).raiseSubscriptionVersion(of: database)
    for name in names {
      _ = try SubscriptionTable(transaction: transaction).delete(
        name, in: database, version: version, timestamp: timestamp)
    }
    row.deletion.done += names.count
    return names.count < Int(Self.batch)
  }

  /// Forgets a batch of uploads and receipts; true when there are no more.
  ///
  /// - Parameter uploader: whose; nil for all, of a database that goes with its assets.
  private mutating func removeUploads(of uploader: String?) throws -> Bool {
    let receipts = try connection.rows(
      """
      SELECT receipt, CASE WHEN token_hash IS NULL THEN 1 ELSE 0 END FROM asset_uploads
      WHERE database_id = $1 AND user_record_name = COALESCE($2, user_record_name) LIMIT $3
      """, [place, SQLValue(uploader), .integer(Self.batch)]
    ) { (name: $0.text(0), isRereference: $0.integer(1) != 0) }
    for receipt in receipts {
      if !receipt.isRereference {
        try AssetTable(transaction: transaction).dispose(
          ofFile: receipt.name, unlessKeptIn: database)
      }
      let checksum = try connection.first(
        "DELETE FROM asset_uploads WHERE database_id = $1 AND receipt = $2 RETURNING checksum",
        [place, .text(receipt.name)]
      ) { $0.optionalText(0) }
      if uploader != nil, let checksum, let checksum { try disposeOfAsset(checksum) }
    }
    row.deletion.done += receipts.count
    return receipts.count < Int(Self.batch)
  }

  /// Has a file removed at once that no record and no receipt names any more.
  func disposeOfAsset(_ checksum: String) throws {
    let file = try connection.first(
      """
      DELETE FROM assets WHERE database_id = $1 AND checksum = $2 AND released IS NOT NULL
        AND NOT EXISTS (
          SELECT 1 FROM asset_uploads
          WHERE asset_uploads.database_id = $1 AND asset_uploads.checksum = $2)
      RETURNING file
      """, [place, .text(checksum)]
    ) { $0.text(0) }
    if let file { try dispose(of: file) }
  }

  private func dispose(of file: String) throws {
    try connection.run(
      """
      INSERT INTO asset_disposals (database_id, file) VALUES ($1, $2)
      ON CONFLICT (database_id, file) DO NOTHING
      """, [place, .text(file)])
  }

  /// Removes a batch of what a private database has, and in the end the database; true when it is gone.
  private mutating func removeDatabase() throws -> Bool {
    guard try removeUploads(of: nil) else { return false }
    let files = try connection.rows(
      "SELECT file FROM assets WHERE database_id = $1 LIMIT $2", [place, .integer(Self.batch)]
    ) { $0.text(0) }
    for file in files { try dispose(of: file) }
    let assets = try remove("assets", ["checksum"], limit: Self.batch)
    // Their files are removed before the next step.
    guard assets == 0, try AssetTable(transaction: transaction).disposable(of: database).isEmpty
    else {
      return false
    }
    var left = Self.batch
    for table in UserTraces.databaseTables {
      left -= try remove(table.name, table.key, limit: left)
      if left == 0 { return false }
    }
    // Whoever writes to the database has its lock, so nothing can have come meanwhile.
    try connection.run("DELETE FROM databases WHERE database_id = $1", [place])
    try connection.run("DELETE FROM database_addresses WHERE number = $1", [place])
    row.deletion.done += 1
    return true
  }

  private mutating func removeIndexEntries() throws -> Bool {
    let removed = try NotificationIndexTable(transaction: transaction)
      .remove(of: user, in: database, limit: Self.batch)
    row.deletion.done += removed
    return removed < Int(Self.batch)
  }

  private mutating func removeAccount() throws {
    let devices = DeviceTable(transaction: transaction)
    let tokens = try devices.forgetGone(of: user)
    for (table, column) in UserTraces.accountColumns {
      row.deletion.done += try connection.run(
        "DELETE FROM \(table) WHERE \(column) = $1", [.text(user)])
    }
    for token in tokens.sorted() { try devices.dropNumber(of: token) }
    row.user = nil
    row.deletion.name = nil
    row.deletion.userRecordName = nil
  }
}
