import CloudKit

/// The reading of change feeds without an engine. It is the baseline for what an engine fetches.
enum PlainFeed {
  /// Reads the feed of a zone to its end, page by page.
  ///
  /// - Parameter desiredKeys: The fields to fetch; nil for all.
  /// - Returns: The token at the end.
  /// - Throws: The error of a request or of a record.
  @discardableResult
  static func read(
    _ zoneID: CKRecordZone.ID, of database: CKDatabase, since token: CKServerChangeToken? = nil,
    desiredKeys: [CKRecord.FieldKey]? = nil, _ receive: ([CKRecord.ID]) -> Void
  ) async throws -> CKServerChangeToken {
    var token = token
    while true {
      let page = try await database.recordZoneChanges(
        inZoneWith: zoneID, since: token, desiredKeys: desiredKeys)
      receive(try page.modificationResultsByID.values.map { try $0.get().record.recordID })
      if !page.moreComing { return page.changeToken }
      token = page.changeToken
    }
  }

  /// Reads what each push reports, until the task is cancelled: the feed of the database, and then
  /// the feeds of the zones that it names.
  ///
  /// - Throws: The error of a request or of the web courier.
  static func follow(
    _ pushes: RemoteNotifications, of database: CKDatabase, _ receive: ([CKRecord.ID]) -> Void
  ) async throws {
    var databaseToken: CKServerChangeToken?
    var tokens: [CKRecordZone.ID: CKServerChangeToken] = [:]
    for try await _ in pushes {
      while true {
        let page = try await database.databaseChanges(since: databaseToken)
        for change in page.modifications {
          tokens[change.zoneID] = try await read(
            change.zoneID, of: database, since: tokens[change.zoneID], receive)
        }
        databaseToken = page.changeToken
        if !page.moreComing { break }
      }
    }
  }
}
