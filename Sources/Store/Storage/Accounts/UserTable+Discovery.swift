import CloudKitModel
import SQLEngine
import StoreModel

// MARK: Users who permit discovery in a container's environment

extension UserTable {
  /// Selects the users who have granted discovery. ``discoverability(_:_:)`` returns the arguments
  /// `$1` to `$4`; the statements append a condition with `$5`.
  private static let discoverable =
    User.selection + """
       JOIN application_permissions
        ON application_permissions.user_record_name = users.user_record_name
      WHERE application_permissions.container = $1 AND application_permissions.environment = $2
        AND application_permissions.permission = $3 AND application_permissions.status = $4
      """

  private static func discoverability(
    _ container: String, _ environment: ContainerEnvironment
  ) -> [SQLValue] {
    [
      .text(container), .text(environment.rawValue),
      .text(ApplicationPermission.userDiscoverability.rawValue),
      .text(ApplicationPermission.Status.granted.rawValue),
    ]
  }

  /// Tries the record name, the e-mail address and the phone number, in this order.
  func discoverableUser(
    matching lookup: UserLookup, container: String, environment: ContainerEnvironment
  ) throws -> User? {
    for (statement, argument) in Self.searches(for: lookup) {
      let user = try connection.first(
        statement, Self.discoverability(container, environment) + [.text(argument)],
        User.init(row:))
      if let user { return user }
    }
    return nil
  }

  func discoverableUsers(
    container: String, environment: ContainerEnvironment, limit: Int
  ) throws -> [User] {
    try connection.rows(
      sql.discovery.users, Self.discoverability(container, environment) + [.count(limit)],
      User.init(row:))
  }

  private static func searches(for lookup: UserLookup) -> [(Statement, String)] {
    var searches: [(Statement, String)] = []
    if let name = lookup.userRecordName {
      searches.append((sql.discovery.byRecordName, name))
    }
    // An invalid address finds no user.
    if let email = lookup.emailAddress.flatMap({ try? UserLookup.canonicalEmailAddress($0) }) {
      searches.append((sql.discovery.byEmail, email))
    }
    // An invalid number finds no user.
    if let phone = lookup.phoneNumber.flatMap({ try? UserLookup.canonicalPhoneNumber($0) }) {
      searches.append((sql.discovery.byPhone, phone))
    }
    return searches
  }

  struct DiscoveryStatements {
    let users: Statement = "\(discoverable) ORDER BY users.user_record_name LIMIT $5"
    let byRecordName: Statement = "\(discoverable) AND users.user_record_name = $5"
    let byEmail: Statement = "\(discoverable) AND users.email = $5"
    let byPhone: Statement = "\(discoverable) AND users.phone = $5"
  }
}
