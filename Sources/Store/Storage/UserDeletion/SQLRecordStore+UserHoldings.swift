import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore {
  public func holdings(
    of userRecordName: String, at timestamp: Timestamp
  ) async throws -> UserHoldings {
    let user = SQLValue.text(userRecordName)
    return try await read { session in
      let connection = session.connection
      return UserHoldings(
        passwordChanged: try connection.first(
          "SELECT changed FROM user_passwords WHERE user_record_name = $1", [user]
        ) { Timestamp(milliseconds: $0.integer(0)) },
        identities: try connection.rows(
          """
          SELECT issuer, subject, created FROM user_identities WHERE user_record_name = $1
          ORDER BY created, issuer, subject
          """, [user]
        ) {
          UserHoldings.Identity(
            identity: IssuedIdentity(issuer: $0.text(0), subject: $0.text(1)),
            created: Timestamp(milliseconds: $0.integer(2)))
        },
        tokens: try connection.rows(
          """
          SELECT container, environment, created, expires FROM web_auth_tokens
          WHERE user_record_name = $1 AND expires > $2 ORDER BY expires DESC, hash LIMIT $3
          """, [user, .integer(timestamp.milliseconds), .integer(Int64(UserHoldings.tokenLimit))]
        ) { row in
          UserHoldings.Token(
            created: Timestamp(milliseconds: row.integer(2)),
            expires: Timestamp(milliseconds: row.integer(3)),
            session: row.isNull(0) ? nil : try ContainerPlace(row))
        },
        roles: try connection.rows(
          """
          SELECT container, environment, role FROM role_members WHERE user_record_name = $1
          ORDER BY container, environment, role
          """, [user]
        ) { UserHoldings.Role(place: try ContainerPlace($0), role: $0.text(2)) },
        permissions: try connection.rows(
          """
          SELECT container, environment, permission, status FROM application_permissions
          WHERE user_record_name = $1 ORDER BY container, environment, permission
          """, [user]
        ) { row in
          guard let permission = ApplicationPermission(rawValue: row.text(2)),
            let status = ApplicationPermission.Status(rawValue: row.text(3))
          else { throw StoreError(.corrupt, "the store has an unknown permission of a user") }
          return UserHoldings.Permission(
            place: try ContainerPlace(row), permission: permission, status: status)
        })
    }
  }

  public func records(
    stampedBy userRecordName: String, in database: DatabaseID, after number: Int64, limit: Int
  ) async throws -> StampedRecordPage {
    try await read { session in
      let place = SQLValue.integer(database.rawValue)
      let end =
        try session.connection.first(
          """
          SELECT MAX(record_number) FROM (
            SELECT record_number FROM records WHERE database_id = $1 AND record_number > $2
            ORDER BY record_number LIMIT $3) AS batch
          """, [place, .integer(number), .integer(Int64(StampedRecordPage.budget))]
        ) { $0.optionalInteger(0) } ?? nil
      guard let end else { return StampedRecordPage(records: [], next: nil) }
      let found = try session.connection.rows(
        StoredRecord.selection + """
           WHERE database_id = $1 AND record_number > $2 AND record_number <= $3
            AND \(session.contentHolds("$4")) ORDER BY record_number LIMIT $5
          """,
        [
          place, .integer(number), .integer(end), .bytes(Array(userRecordName.utf8)),
          .integer(Int64(limit)),
        ], StoredRecord.Row.init
      ).map { try RecordTable(session: session).record($0, in: database) }
      return StampedRecordPage(
        records: found.map(\.record).filter { $0.hasStamp(of: userRecordName) },
        next: found.count == limit ? found.last?.number : end)
    }
  }
}

extension ContainerPlace {
  /// Of a row whose first columns are container and environment.
  fileprivate init(_ row: any SQLRow) throws {
    self.init(container: row.text(0), environment: try row.environment(1))
  }
}

extension StoreSession {
  /// A condition for rows whose contents have these bytes in a row somewhere.
  func contentHolds(_ parameter: String) -> String {
    connection.contains(parameter, in: "content")
  }
}
