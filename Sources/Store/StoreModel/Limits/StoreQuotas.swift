import Synchronization

/// The limits of a store for each kind of object that one user, database or container may have,
/// with counts of refusals.
///
/// A limit refuses additions only. A store that is above a limit keeps its objects, and they can be
/// changed and deleted. A lock protects the values, so limits can change while the store is in use.
public final class StoreQuotas: Sendable {
  /// A limited quantity. The raw value is its name in the metrics.
  public enum Subject: String, Sendable, Hashable, CaseIterable {
    /// Bytes of the records and assets of one private database.
    case privateDatabaseBytes
    /// Bytes of the records and assets of one public database.
    case publicDatabaseBytes
    /// Subscriptions of one user in one database.
    case subscriptionsPerUser
    /// Zones of one database, with the default zone.
    case zonesPerDatabase
    /// Record types created by saving records, in one environment of a container.
    case recordTypes
    /// Fields created by saving records, in one record type.
    case fieldsPerRecordType
    /// APNs tokens of one user in one environment of a container.
    case apnsDevicesPerUser
    /// Readers of the web courier of one user in one environment of a container.
    case courierReadersPerUser
    /// Push subscriptions of browsers of one user in one environment of a container.
    case browsersPerUser
    /// Webhooks of one server-to-server key.
    case webhooksPerKey
  }

  /// The values that the lock protects.
  private struct State {
    var limits: [Subject: Int] = [:]
    var refusals: [Subject: Int] = [:]
  }

  private let state = Mutex(State())

  /// Creates quotas without any limit.
  public init() {}

  /// The limits in force; an absent subject is unlimited.
  public var limits: [Subject: Int] {
    get { state.withLock { $0.limits } }
    set { state.withLock { $0.limits = newValue } }
  }

  /// The limit of a subject; `Int.max` if it has none.
  package subscript(subject: Subject) -> Int { state.withLock { $0.limits[subject] } ?? .max }

  /// The number of refused additions since the start. A write that the engine repeats may count
  /// twice.
  public var refusals: [Subject: Int] { state.withLock { $0.refusals } }

  /// Counts a refusal.
  package func note(refusalOf subject: Subject) {
    state.withLock { $0.refusals[subject, default: 0] += 1 }
  }

  /// Counts a refusal and returns the failure of the refused item.
  ///
  /// - Parameter reason: what was refused, what there is, and what to do.
  package func refusal(of subject: Subject, field: String? = nil, _ reason: String) -> ItemFailure {
    note(refusalOf: subject)
    return ItemFailure(.quotaExceeded, field: field, reason, limit: self[subject])
  }
}

extension DeviceToken.Kind {
  /// The limit that counts devices of this kind.
  package var quota: StoreQuotas.Subject {
    switch self {
    case .apns: .apnsDevicesPerUser
    case .courier: .courierReadersPerUser
    case .webPush: .browsersPerUser
    case .webhook: .webhooksPerKey
    }
  }
}
