import CloudKitModel
import StoreModel

/// One step of a user's deletion, in one transaction.
///
/// A step removes a batch of its stage's rows in one database. Without further rows there, it goes
/// on to the next database or stage. Each step searches for the rows again, so a step can be
/// repeated.
struct UserDeletionStep {
  static let batch = Retention.batch

  var row: UserDeletionRow
  let user: String
  let timestamp: Timestamp
  let transaction: StoreTransaction

  var database: DatabaseID { DatabaseID(rawValue: row.database) }

  /// Stores the progress.
  ///
  /// The first step of a stage finds the first database. If the transaction does not have its
  /// lock, the step throws ``LocksNeeded``, and the writer repeats the transaction with the lock.
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

  /// The next step works in the next database, with its lock, or in the next stage.
  private mutating func goOn() throws {
    row.position = 0
    row.database = row.database == 0 ? 0 : try nextDatabase() ?? 0
    guard row.database == 0 else { return }
    guard let next = UserDeletion.Stage(rawValue: row.deletion.stage.rawValue + 1) else { return }
    row.deletion.stage = next
  }

  private func nextDatabase() throws -> Int64? {
    let databases = DatabaseTable(transaction: transaction)
    let joined = ParticipantTable(transaction: transaction)
    return switch row.deletion.stage {
    case .publicRows, .subscriptions, .publicRecords, .dispatch, .changes, .notifications:
      // The user may have changed records of private databases whose shares the user took part in.
      try [
        databases.nextPublic(after: database)?.rawValue,
        joined.nextDatabase(after: database, of: user),
      ].compactMap(\.self).min()
    case .shares:
      try [
        joined.nextDatabase(after: database, of: user),
        ShareRequestTable(transaction: transaction).nextDatabase(after: database, of: user),
      ].compactMap(\.self).min()
    case .privateDatabases: try databases.next(after: database, of: user)?.rawValue
    case .notificationIndex:
      try SubscriberDatabaseTable(transaction: transaction)
        .next(after: database, of: user)?.rawValue
    case .account, .erasure: nil
    }
  }

  /// Returns true if there is no more.
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
    case .dispatch: return try checkDispatch()
    case .changes: return try changeHistory()
    case .notifications:
      guard try changeNotifications() else { return false }
      return try removeRows()
    case .shares: return try removeFromShares()
    case .privateDatabases: return try removeDatabase()
    case .notificationIndex: return try removeIndexEntries()
    case .account, .erasure: return true
    }
  }
}

// MARK: Rows by their keys

extension UserDeletionStep {
  /// From the tables of ``UserTraces/publicColumns`` for the stage. Returns true if there are no
  /// more.
  private mutating func removeRows() throws -> Bool {
    for (stage, place) in UserTraces.publicColumns where stage == row.deletion.stage {
      if place.table == "subscription_deletions" {
        try SubscriptionTable(transaction: transaction)
          .noteForgottenDeletions(of: user, in: database)
      }
      let removed = try transaction.connection.run(
        place.deletion, [.id(database), .integer(Self.batch), .text(user)])
      row.deletion.done += removed
      if removed == Int(Self.batch) { return false }
    }
    return true
  }

  /// The changes have the owner's name. Returns true if there are no more.
  private mutating func removeFromShares() throws -> Bool {
    let owner = try DatabaseTable(transaction: transaction).address(of: database).owner
    // The shares of the user go with the user's databases.
    guard let owner, owner != user else { return true }
    var writer = try RecordWriter(
      to: database, by: ChangeOrigin(userRecordName: owner), at: timestamp,
      transaction: transaction)
    let changed = try writer.removeFromShares(user, limit: Int(Self.batch))
    row.deletion.done += changed
    return changed < Int(Self.batch)
  }

  /// Adds tombstones for the servers that match changes. Returns true if there are no more.
  private mutating func removeSubscriptions() throws -> Bool {
    let subscriptions = SubscriptionTable(transaction: transaction)
    let page = try subscriptions.states(
      withID: nil, of: user, in: database, after: nil, limit: Int(Self.batch))
    guard !page.states.isEmpty else { return true }
    let version = try DatabaseTable(transaction: transaction).raiseSubscriptionVersion(of: database)
    for state in page.states {
      _ = try subscriptions.delete(
        state.stored.name, in: database, version: version, timestamp: timestamp)
    }
    row.deletion.done += page.states.count
    return page.states.count < Int(Self.batch)
  }

  /// Uploads and receipts (the proofs of finished uploads). A database that is deleted with its
  /// assets loses those of all uploaders (nil). Returns true if there are no more.
  private mutating func removeUploads(of uploader: String?) throws -> Bool {
    let uploads = AssetUploadTable(transaction: transaction)
    let some = try uploads.some(of: uploader, in: database)
    row.deletion.done += try uploads.forget(some)
    if uploader != nil {
      let assets = AssetTable(transaction: transaction)
      for checksum in some.compactMap(\.checksum) {
        try assets.drop(unheld: checksum, of: database)
      }
    }
    return some.count < Int(Self.batch)
  }

  /// Removes a batch of a private database's rows, and at last the database. Asset files are
  /// removed between the steps. Returns true if the database is gone.
  private mutating func removeDatabase() throws -> Bool {
    guard try endShares() else { return row.deletion.state == .waiting }
    guard try removeUploads(of: nil) else { return false }
    let assets = AssetTable(transaction: transaction)
    let dropped = try assets.dropSome(of: database)
    row.deletion.done += dropped
    // The files are removed before the next step.
    guard dropped == 0, try assets.disposable(of: database).isEmpty else { return false }
    var left = Self.batch
    for table in UserTraces.databaseTables {
      let removed = try transaction.connection.run(
        table.deletion, [.id(database), .integer(left)])
      row.deletion.done += removed
      left -= Int64(removed)
      if left == 0 { return false }
    }
    // Writes to the database need its lock, so no row can have been added meanwhile.
    try DatabaseTable(transaction: transaction).remove(database)
    row.deletion.done += 1
    return true
  }

  /// Returns true if there are no more.
  private mutating func removeIndexEntries() throws -> Bool {
    let removed = try NotificationIndexTable(transaction: transaction)
      .remove(of: user, in: database, limit: Self.batch)
    row.deletion.done += removed
    return removed < Int(Self.batch)
  }

  /// Afterwards the deletion's row no longer names the user.
  private mutating func removeAccount() throws {
    let devices = DeviceTable(transaction: transaction)
    let tokens = try devices.forgetGone(of: user)
    for place in UserTraces.accountColumns {
      row.deletion.done += try transaction.connection.run(place.deletion, [.text(user)])
    }
    for token in tokens.sorted() { try devices.dropNumber(of: token) }
    try ContainerTable(transaction: transaction).forgetMaker(user)
    row.user = nil
    row.deletion.name = nil
    row.deletion.userRecordName = nil
  }
}
