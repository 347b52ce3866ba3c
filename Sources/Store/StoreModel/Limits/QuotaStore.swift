/// The quotas of a store.
public protocol QuotaStore: Sendable {
  /// What users, databases and containers may have at most.
  var quotas: StoreQuotas { get }
}
