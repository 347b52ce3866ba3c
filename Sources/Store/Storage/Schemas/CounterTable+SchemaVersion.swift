import CloudKitModel

// Types and fields that are made while records are saved need no new version: who does not know
// one looks for it. Every other change of a schema raises the version, and each transaction begins
// by reading it (one row, by its key): the next transaction of every process sees the change.
extension CounterTable {
  /// Forgets the schemas that were read when they have changed since; for the start of a
  /// transaction.
  ///
  /// - Parameter known: the schemas' version, where it has been read already.
  func followSchema(foundAs known: Int64? = nil) throws {
    let version =
      try known ?? schemaVersion()
    guard version != transaction.catalog.schemaVersion else { return }
    transaction.catalog.types = [:]
    transaction.catalog.typesByNumber = [:]
    transaction.catalog.roles = [:]
    transaction.catalog.deletedUsers = nil
    transaction.catalog.schemaVersion = version
  }

  /// Lets everyone read the schemas again. In the transaction that changes one.
  func raiseSchemaVersion() throws {
    _ = try next("schema")
    try followSchema()
  }
}
