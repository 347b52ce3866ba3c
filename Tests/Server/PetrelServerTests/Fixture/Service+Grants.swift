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
    try await store.transactions.write { transaction in
      let types = RecordTypeTable(transaction: transaction)
      let type =
        try types.type(named: "Note", at: address) ?? types.add(named: "Note", at: address)
      try types.replace(grants, ofType: type.number)
      for role in roles {
        try transaction.connection.run(
          "INSERT INTO security_roles (container, environment, name) VALUES ($1, $2, $3)",
          [.text(address.container), .text(address.environment.rawValue), .text(role)])
      }
      try CounterTable(transaction: transaction).raiseCatalogVersion()
    }
  }
}
