/// The quotas of a store.
public protocol QuotaStore: Sendable {
  /// The limits of users, databases and containers.
  var quotas: StoreQuotas { get }
}
