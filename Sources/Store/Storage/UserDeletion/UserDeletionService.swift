import CloudKitModel
import KillPoints
import StoreModel

/// The deletion of users with all their data, step by step, and the export of a user's data.
///
/// A deletion may remove millions of rows. So a row of ``UserDeletionTable`` has its stage and
/// position, and each step is a small transaction:
/// ``MaintenanceService/continueUserDeletion(at:)``. The user's credentials go first, so the user
/// can write nothing from then on.
public struct UserDeletionService: Sendable {
  let transactions: Transactions
  let files: any AssetStore
  /// Files waiting log entries before the user's entries are removed from the index.
  let notificationLog: NotificationLogService

  /// Begins to delete a user, or returns the deletion that is under way. From then on the user
  /// cannot sign in, and has no tokens, devices or roles. Writes under way fail with
  /// ``StoreError/Code/userDeleted``. Until the account is deleted, no other can have its name.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such user.
  public func beginUserDeletion(
    named name: String, publicRecords: UserDeletion.PublicRecords, at timestamp: Timestamp
  ) async throws -> UserDeletion {
    // The lock waits for all writes, and later writes see the deletion.
    try await transactions.writeDevices(locking: .everything) { transaction, orders in
      guard let user = try UserTable(transaction: transaction).user(named: name) else {
        throw StoreError.noUser(named: name)
      }
      let deletions = UserDeletionTable(transaction: transaction)
      if let known = try deletions.deletions().first(where: { $0.user == user.userRecordName }) {
        return known.deletion
      }
      try user.endAccess(at: timestamp, ordering: &orders, in: transaction)
      let deletion = UserDeletion(
        identifier: UserDeletionTable.hash(of: user.userRecordName).prefix(8).hexadecimal,
        name: user.name, userRecordName: user.userRecordName, publicRecords: publicRecords,
        stage: .publicRows, done: 0, began: timestamp)
      try deletions.add(deletion, of: user.userRecordName)
      try CounterTable(transaction: transaction).raiseCatalogVersion()
      return deletion
    }
  }

  /// The deletions under way, in the order in which they began.
  public func userDeletions() async throws -> [UserDeletion] {
    try await transactions.read {
      try UserDeletionTable(transaction: $0).deletions().map(\.deletion)
    }
  }

  /// Runs a step of the first deletion that does not wait. If all before the stage `erasure` wait,
  /// erases the deleted data of those at that stage.
  ///
  /// - Returns: the deletion after the step, or the first one that waits.
  /// - Throws: ``StoreError/Code/assetFailed`` if files of assets cannot be removed.
  func continueUserDeletion(at timestamp: Timestamp) async throws -> UserDeletion? {
    let pending = try await transactions.read { try UserDeletionTable(transaction: $0).deletions() }
    var waiting: UserDeletion?
    for row in pending where row.deletion.stage != .erasure {
      let deletion = try await takeStep(of: row, at: timestamp)
      KillPoint.afterDeletionStep.reach()
      guard deletion.state == .waiting else { return deletion }
      waiting = waiting ?? deletion
    }
    let last = pending.filter { $0.deletion.stage == .erasure }
    if last.isEmpty { return waiting }
    defer { KillPoint.afterDeletionStep.reach() }
    return try await erase(last, at: timestamp)
  }

  /// One erasure ends all these deletions. Returns the first: finished, or waiting while a
  /// connection reads from the log.
  private func erase(
    _ rows: [UserDeletionRow], at timestamp: Timestamp
  ) async throws -> UserDeletion? {
    var deletion = rows.first?.deletion
    guard try await transactions.eraseLog() else {
      deletion?.state = .waiting
      return deletion
    }
    try await transactions.write(locking: .reference) { transaction in
      let deletions = UserDeletionTable(transaction: transaction)
      for row in rows { try deletions.end(deletionOf: row.hash, at: timestamp) }
    }
    deletion?.state = .finished
    return deletion
  }

  /// First removes the asset files that earlier steps marked. If another process has taken the
  /// step since `pending` was read, the step does nothing.
  private func takeStep(
    of pending: UserDeletionRow, at timestamp: Timestamp
  ) async throws -> UserDeletion {
    let database = DatabaseID(rawValue: pending.database)
    if pending.database != 0 { try await removeAssetFiles(of: database) }
    if pending.deletion.stage == .notificationIndex {
      // Otherwise, entries that wait in memory would be added to the index after the user's rows
      // there are removed.
      try await notificationLog.fileNotifications()
    }
    let locks = pending.database == 0 ? WriteLocks.reference : .reference.union(.database(database))
    return try await transactions.write(
      locking: locks, rows: Int(UserDeletionStep.batch)
    ) { transaction in
      let identifier = pending.deletion.identifier
      let known = try UserDeletionTable(transaction: transaction).deletions()
        .first { $0.deletion.identifier == identifier }
      guard let row = known else {
        // Another process has finished the deletion.
        return pending.deletion
      }
      guard row == pending, let user = row.user else { return row.deletion }
      var step = UserDeletionStep(
        row: row, user: user, timestamp: timestamp, transaction: transaction)
      return try step.run()
    }
  }

  /// Removes marked files first, and then their marks. A server that is killed in between removes
  /// the files again, which does no harm.
  private func removeAssetFiles(of database: DatabaseID) async throws {
    while true {
      let names = try await transactions.read {
        try AssetTable(transaction: $0).disposable(of: database)
      }
      if names.isEmpty { return }
      for name in names { try await files.remove(name) }
      try await transactions.inEachDatabase(of: names) {
        try AssetTable(transaction: $0).forgetDisposals($1)
      }
    }
  }

  /// Of deletions that ended more than ``UserTraces/refusalMilliseconds`` ago: no request of these
  /// users can be under way.
  func forgetDeletedUsers(at timestamp: Timestamp) async throws {
    let horizon = timestamp.milliseconds - UserTraces.refusalMilliseconds
    let isThere = try await transactions.read {
      try UserDeletionTable(transaction: $0).hasEnded(before: horizon)
    }
    guard isThere else { return }
    try await transactions.write(locking: .reference) {
      try UserDeletionTable(transaction: $0).forget(endedBefore: horizon)
    }
  }
}

extension User {
  /// `orders` gets the deliveries that are abandoned, because their devices are removed.
  fileprivate func endAccess(
    at timestamp: Timestamp, ordering orders: inout [DeliveryOrder],
    in transaction: StoreTransaction
  ) throws {
    _ = try WebAuthTokenTable(transaction: transaction)
      .endSessions(of: userRecordName, everywhere: true, at: timestamp, ordering: &orders)
    try DeviceTable(transaction: transaction)
      .removeAll(
        of: userRecordName, kinds: DeviceToken.Kind.allCases, at: timestamp,
        because: .unregistered, ordering: &orders)
    for place in UserTraces.accessColumns {
      try transaction.decide(place.deletion, [.text(userRecordName)])
    }
  }
}

/// The erasure of deleted data from a store in a file. SQLite overwrites deleted data
/// (`secure_delete`), and the unused bytes of a page are cleared before the page is written
/// (`BTreePage`). So deleted data remains only in the write-ahead log.
///
/// PostgreSQL needs no such step: `VACUUM` removes the deleted rows. Archives of its write-ahead
/// log keep the rows until the archives expire.
extension Transactions {
  /// Returns false while a connection reads from the log; try again later.
  func eraseLog() async throws -> Bool {
    try await withCheckedThrowingContinuation { continuation in
      writer.queue.add(
        ContinuationJob(continuation, isOutsideTransactions: true) { try $0.connection.eraseLog() })
    }
  }
}
