import CloudKitModel
import HTTPService
import StoreModel

extension ServerConfiguration {
  /// The limits that clients of this server have to keep to, as `server/limits` answers them: those of
  /// ``ServiceLimits``, and those of the configuration.
  ///
  /// A client's pace and its share are there, so that it can keep to them before it is refused. What protects
  /// the server from those who attack it is not: rates and connections of addresses, the rate of an API token,
  /// which all clients of an app use up together, waiting pushes, and memory. An honest client cannot keep to them,
  /// for it does not see what others do; an attacker would learn how much is just enough.
  public var clientLimits: [ServiceLimit] {
    ServiceLimits.all + requestLimits + shares + rates + retention
  }

  private var requestLimits: [ServiceLimit] {
    let connection = HTTPServer.Configuration()
    return [
      .init("requestTargetSize", connection.maximumTargetSize, .bytes),
      .init("requestHeaderSize", connection.maximumHeaderSize, .bytes),
      .init("requestSeconds", limits.requestSeconds, .seconds),
      .init("signatureWindow", signatureWindow, .seconds),
    ]
  }

  /// What one user, key, database or container may have. Those without a value are not limited.
  private var shares: [ServiceLimit] {
    let quotas = quotas
    return StoreQuotas.Subject.allCases.compactMap { subject in
      quotas[subject].map { .init(subject.limitName, $0, subject.unit) }
    }
  }

  private var rates: [ServiceLimit] {
    let told: [(RequestRate.Subject, String)] = [
      (.user, "requestsPerUser"), (.serverKey, "requestsPerServerKey"),
    ]
    return told.flatMap { subject, name -> [ServiceLimit] in
      guard let rate = limits.requestRates[subject] else { return [] }
      return [
        .init(name, rate.perSecond, .requestsPerSecond), .init(name + "AtOnce", rate.burst, .count),
      ]
    } + [.init("silentPushInterval", limits.silentPushInterval, .seconds)]
  }

  private var retention: [ServiceLimit] {
    [
      .init("notificationLogDays", notificationLog.days, .days),
      .init("notificationLogEntries", notificationLog.entries, .count),
      .init("notificationLogSize", notificationLog.bytes, .bytes),
      .init("deletionRetentionDays", deletionRetentionDays, .days),
    ]
  }
}

extension StoreQuotas.Subject {
  /// The name of the configuration's key.
  fileprivate var limitName: String {
    switch self {
    case .recordTypes: "recordTypesPerContainer"
    case .privateDatabaseBytes, .publicDatabaseBytes, .subscriptionsPerUser, .zonesPerDatabase,
      .fieldsPerRecordType, .apnsDevicesPerUser, .courierReadersPerUser, .browsersPerUser,
      .webhooksPerKey:
      rawValue
    }
  }

  fileprivate var unit: ServiceLimit.Unit {
    switch self {
    case .privateDatabaseBytes, .publicDatabaseBytes: .bytes
    case .recordTypes, .subscriptionsPerUser, .zonesPerDatabase, .fieldsPerRecordType,
      .apnsDevicesPerUser, .courierReadersPerUser, .browsersPerUser, .webhooksPerKey:
      .count
    }
  }
}
