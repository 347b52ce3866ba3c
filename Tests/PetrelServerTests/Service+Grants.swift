import CloudKitModel

@testable import PetrelServer
@testable import Storage

extension Service {
  /// Gives the record type Note other grants, and the schema roles.
  func grant(
    _ grants: RecordGrants, roles: [String] = [],
    in environment: ContainerEnvironment = .development
  ) async throws {
    let address = DatabaseAddress(
      container: Self.container, environment: environment, scope: .public, owner: nil)
    try await store.write { session in
      let type =
        try session.recordType(named: "Note", at: address)
        ?? session.addRecordType(named: "Note", at: address)
      try session.connection.run(
        "DELETE FROM record_type_grants WHERE type_number = $1", [.integer(type.number)])
      try RecordTypeEntry.insertGrants(grants, ofType: type.number, through: session.connection)
      for role in roles {
        try session.connection.run(
          "INSERT INTO security_roles (container, environment, name) VALUES ($1, $2, $3)",
          [.text(address.container), .text(address.environment.rawValue), .text(role)])
      }
      try session.raiseSchemaVersion()
    }
  }
}
