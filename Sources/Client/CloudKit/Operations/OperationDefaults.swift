/// What `configuredWith(configuration:group:body:)` sets for the operations of a container or a
/// database.
struct OperationDefaults: Sendable {
  var configuration: CKOperationConfiguration.Values?
  var group: CKOperationGroup?

  init(configuration: CKOperationConfiguration? = nil, group: CKOperationGroup? = nil) {
    self.configuration = configuration?.values
    self.group = group
  }

  var values: CKOperationConfiguration.Values {
    (configuration ?? .init()).filled(from: group?.defaultConfiguration.values)
  }
}
