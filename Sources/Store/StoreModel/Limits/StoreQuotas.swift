import Synchronization

/// The most objects and bytes that one user, database or container may have, with counts of
/// refused additions.
///
/// A quota refuses only additions: objects beyond a new quota stay, and users can change and
/// delete them. A lock protects the values, so quotas can change while the store is in use.
public final class StoreQuotas: Sendable {
  /// The raw value is the name in the metrics.
  public enum Subject: String, Sendable, Hashable, CaseIterable {
    /// The bytes of the records and assets of one private database.
    case privateDatabaseBytes
    /// The bytes of the records and assets of one public database.
    case publicDatabaseBytes
    /// The subscriptions of one user in one database.
    case subscriptionsPerUser
    /// The zones of one database, the default zone included.
    case zonesPerDatabase
    /// The containers of the store. The limit applies when a user's request creates a container.
    case containers
    /// The containers that the requests of one user create in an hour.
    case newContainersPerUser
    /// The record types of one environment of a container. The limit applies when the save of a
    /// record creates a type.
    case recordTypes
    /// The fields of one record type. The limit applies when the save of a record creates a field.
    case fieldsPerRecordType
    /// The APNs tokens of one user in one environment of a container.
    case apnsDevicesPerUser
    /// The web courier readers of one user in one environment of a container.
    case courierReadersPerUser
    /// The browsers of one user in one environment of a container: their push subscriptions.
    case browsersPerUser
    /// The webhooks of one server-to-server key.
    case webhooksPerKey
  }

  /// Guarded by the lock.
  private struct State {
    var limits: [Subject: Int] = [:]
    var refusals: [Subject: Int] = [:]
  }

  private let state = Mutex(State())

  /// Creates quotas without any limit.
  public init() {}

  /// A subject without an element has no limit.
  public var limits: [Subject: Int] {
    get { state.withLock { $0.limits } }
    set { state.withLock { $0.limits = newValue } }
  }

  /// The limit; `Int.max` without one.
  package subscript(subject: Subject) -> Int { state.withLock { $0.limits[subject] } ?? .max }

  /// The refused additions since the object was created. If the store repeats a write, its refusal
  /// may count twice.
  public var refusals: [Subject: Int] { state.withLock { $0.refusals } }

  package func note(refusalOf subject: Subject) {
    state.withLock { $0.refusals[subject, default: 0] += 1 }
  }

  /// Counts the refusal. `reason` names the refused addition, the present amount and the next
  /// step.
  package func refusal(of subject: Subject, field: String? = nil, _ reason: String) -> ItemFailure {
    note(refusalOf: subject)
    return ItemFailure(.quotaExceeded, field: field, reason, limit: self[subject])
  }
}

extension DeviceToken.Kind {
  package var quota: StoreQuotas.Subject {
    switch self {
    case .apns: .apnsDevicesPerUser
    case .courier: .courierReadersPerUser
    case .webPush: .browsersPerUser
    case .webhook: .webhooksPerKey
    }
  }
}
