import CloudKitModel

extension StoreSession {
  /// The roles of a user in a container: `_world`, `_icloud` when signed in, and those that the
  /// user was given. `_creator` depends on the record.
  ///
  /// - Complexity: O(1) once the user's roles were read.
  func roles(of userRecordName: String?, at address: DatabaseAddress) throws -> Set<String> {
    guard let userRecordName else { return [RecordGrants.SystemRole.world] }
    let key = Catalog.MemberKey(
      container: address.container, environment: address.environment,
      userRecordName: userRecordName)
    if let known = catalog.roles[key] { return known }
    var roles: Set = [RecordGrants.SystemRole.world, RecordGrants.SystemRole.icloud]
    try connection.query(
      """
      SELECT role FROM role_members
      WHERE container = $1 AND environment = $2 AND user_record_name = $3
      """,
      [.text(key.container), .text(key.environment.rawValue), .text(userRecordName)]
    ) { roles.insert($0.text(0)) }
    if catalog.roles.count >= 50_000 { catalog.roles = [:] }
    catalog.roles[key] = roles
    return roles
  }
}
