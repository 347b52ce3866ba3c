/// The settings that `configuredWith(configuration:group:body:)` gives to the operations of a
/// container or database.
struct OperationDefaults: Sendable {
  var configuration: CKOperationConfiguration.Values?
  /// The group whose default configuration completes ``configuration``; nil if the program passed
  /// none.
  var group: CKOperationGroup?

  init(configuration: CKOperationConfiguration? = nil, group: CKOperationGroup? = nil) {
    self.configuration = configuration?.values
    self.group = group
  }

  var values: CKOperationConfiguration.Values {
    (configuration ?? .init()).filled(from: group?.defaultConfiguration.values)
  }
}
