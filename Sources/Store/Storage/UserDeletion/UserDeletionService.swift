import CloudKitModel
import KillPoints
import SQLEngine
import StoreModel

/// The deletion of users with all their data, step by step, and the export of a user's data.
///
/// A deletion may remove millions of rows. So the store keeps its stage and position in a row of
/// ``UserDeletionTable``, and each step is a small transaction:
/// ``MaintenanceService/continueUserDeletion(at:)``. After a crash, the server continues at the
/// stored position. The deletion first removes the user's credentials, so the user can write
/// nothing from then on.
public struct UserDeletionService: Sendable {
  let transactions: Transactions
  /// The storage of the assets' files.
  let files: any AssetStore
  /// The service that adds waiting log entries to the notification index, before the user's entries
  /// are removed from the index.
  let notificationLog: NotificationLogService

  /// Begins to delete a user. From then on the user cannot sign in, and has no tokens, devices or
  /// roles. Writes of requests that are under way fail with ``StoreError/Code/userDeleted``. Until
  /// the account is deleted, no other account can have its name. If a deletion of the user is under
  /// way, the method returns it unchanged.
  ///
  /// - Parameters:
  ///   - name: the account's name.
  ///   - publicRecords: the decision about the user's records in public databases.
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
      let hash = UserDeletionTable.hash(of: user.userRecordName)
      let deletion = UserDeletion(
        identifier: UserDeletionRow.identifier(for: hash),
        name: user.name, userRecordName: user.userRecordName, publicRecords: publicRecords,
        stage: .publicRows, done: 0, began: timestamp)
      try deletions.add(deletion, of: user.userRecordName)
      try CounterTable(transaction: transaction).raiseCatalogVersion()
      return deletion
    }
  }

  /// Returns the deletions that are under way, in the order in which they began.
  public func userDeletions() async throws -> [UserDeletion] {
    try await transactions.read {
      try UserDeletionTable(transaction: $0).deletions().map(\.deletion)
    }
  }

  /// Runs a step of the first unfinished deletion that does not wait for something. If all
  /// deletions before the stage `erasure` wait, the method erases the deleted data of the deletions
  /// at that stage.
  ///
  /// - Returns: the deletion after the step, or the first one that waits; nil if no deletion is
  ///   unfinished.
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

  /// Erases the deleted data from the store's file, and ends these deletions. One erasure serves
  /// all of them.
  ///
  /// - Returns: the first deletion: finished, or waiting while a connection reads from the log.
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

  /// Runs a step of bounded size. It first removes the asset files that earlier steps marked for
  /// deletion.
  ///
  /// If another process has taken the step meanwhile, the step does nothing.
  ///
  /// - Parameter pending: the deletion as it was read before the transaction.
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
      var step = UserDeletionStep(row, of: user, at: timestamp, in: transaction)
      return try step.run()
    }
  }

  /// Removes the asset files of a database that are marked for deletion.
  ///
  /// The method removes the files first, and then their marks. A server that is killed in between
  /// removes the files again, which does no harm.
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

  /// Deletes the rows of deletions that ended more than ``UserTraces/refusalMilliseconds`` ago. By
  /// then, no request of these users can be under way.
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
  /// Ends all access of the user: removes sessions, the devices that get pushes, passwords, roles
  /// and the permissions of applications.
  ///
  /// - Parameter orders: collects orders about the deliveries that are abandoned, because their
  ///   devices are removed.
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
      try transaction.connection.run(place.deletion, [.text(userRecordName)])
    }
  }
}
